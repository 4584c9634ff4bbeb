"""What a fix is made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.facts.python_model import PythonUse
from guardfix.linter.facts.python_uses import use_behind
from guardfix.linter.files.sources import Source
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.findings import Applicability, Decision, Finding

from .choice import FixChoice
from .fix import Edit, Fix


class Site(Struct, frozen=True):
    """One finding with all that its edits depend on."""

    finding: Finding
    facts: Facts
    project: Project
    source: Source
    """The text that the facts were read from."""
    workspace: Workspace
    """Where other files' texts come from."""
    choice: FixChoice
    most: Applicability
    """The most that a fix of the finding's rule can claim."""

    @property
    def text(self) -> bytes:
        return self.source.text

    @property
    def use(self) -> GuardUse:
        """The guard use that the finding is about."""
        assert self.finding.use is not None, f"{self.finding.code} is not about a guard use"
        return self.finding.use

    @property
    def python_use(self) -> PythonUse | None:
        """What only Python says about the use; None where that is nothing, as for an import."""
        return use_behind(self.facts, self.use)

    @property
    def decision(self) -> Decision:
        assert self.finding.decision is not None, f"{self.finding.code} decides nothing"
        return self.finding.decision

    def fix(
        self,
        message: str,
        edits: Iterable[Edit],
        *,
        doubts: Sequence[str] = (),
        at_most: Applicability = Applicability.SAFE,
        name: str = "",
        further: tuple[Fix, ...] = (),
    ) -> Fix:
        """A fix that claims as much as its rule allows, `at_most` allows, and its doubts do.

        `doubts` say why the meaning may change: with one of them the fix is unsafe, and its message names them.
        """
        claimed = self.most.at_most(at_most)
        if doubts:
            claimed = claimed.at_most(Applicability.UNSAFE)
        return Fix("; ".join([message, *doubts]), claimed, tuple(edits), name, further)

    def suggestion(self, message: str, edits: Iterable[Edit] = ()) -> Fix:
        """A fix that is shown, never applied."""
        return self.fix(message, edits, at_most=Applicability.DISPLAY)
