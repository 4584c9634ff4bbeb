"""Small texts as facts and projects, read by the front ends as any file is. `GUARD` stands for a use of the old guard."""

from __future__ import annotations

from dataclasses import dataclass

from guardfix.linter.analysis.project import Project
from guardfix.linter.analysis.project_summary import ProjectSummary
from guardfix.linter.facts import Call, Facts, Function, GuardUse
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.cpp.cpp_extraction import extract_cpp
from guardfix.linter.frontends.cpp.cpp_file_summary import summarize_cpp
from guardfix.linter.frontends.frontend import frontend_of

GUARD = "at::AutoNonVariableTypeMode guard(true);"
OLD = "AutoNonVariableTypeMode"


def facts_of(text: str, path: str = "ops.cpp", watched: tuple[str, ...] = ("everything",)) -> Facts:
    """The facts of one text. C++ is read whole, so that functions without a guard are read too."""
    frontend = frontend_of(path)
    assert frontend is not None
    source = decode(text.replace("GUARD;", GUARD).encode(), path)
    if frontend.name == "cpp":
        facts = extract_cpp(source, watched, whole=True)
    else:
        facts = frontend.extract(source, frozenset(watched), None)
    assert facts is not None
    assert not facts.partial, "the parser was lost in the snippet"
    return facts


@dataclass(frozen=True)
class Snippet:
    """A project of a few texts; questions are about the first of them."""

    project: Project
    facts: Facts

    def use(self, guard: str = OLD) -> GuardUse:
        """The one use of that guard in the first text."""
        (found,) = [use for use in self.facts.guard_uses if use.guard == guard]
        return found

    def function(self, name: str) -> Function:
        (found,) = [function for function in self.facts.functions if function.name == name]
        return found

    def call(self, name: str) -> Call:
        (found,) = [call for call in self.facts.calls if call.name == name]
        return found


def snippet(
    text: str, *others: str, path: str = "ops.cpp", watched: tuple[str, ...] = ("everything",), summarized: bool = False
) -> Snippet:
    """A project of `text` and further files, `other1.cpp` and so on; `summarized` as where a use stayed open.

    What begins with `#pragma once` is a header.
    """
    suffixes = ("h" if other.startswith("#pragma once") else "cpp" for other in others)
    texts = {
        path: text,
        **{f"other{n}.{suffix}": other for n, (other, suffix) in enumerate(zip(others, suffixes, strict=True), 1)},
    }
    files = [facts_of(each, name, watched) for name, each in texts.items()]
    summary = None
    if summarized:
        summary = ProjectSummary(summarize_cpp(decode(found.encode(), name)) for name, found in texts.items())
    project = Project(files, summary=summary)
    return Snippet(project, project.files[path])
