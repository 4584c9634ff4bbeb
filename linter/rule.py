"""A rule is one file in `rules/`: `gf201_temporary_guard.py`. It is found by itself; there is no list to edit.

The file's docstring is the rule's documentation, printed by `guardfix explain`, and always in this order: what
it flags, why it is bad, example, use instead, whether the fix is safe, what is not flagged, limits, references.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from msgspec import Struct, field

from .analysis.project import Project
from .facts import Facts, Form, GuardUse, Span, Suppression
from .findings import Applicability, Decision, Finding, Severity, StepTaken
from .flow.events import Event, EventKind
from .flow.project_events import events_in, story_of, use_of
from .guards import GuardChoice, gradient_guards, no_guards
from .named_tuples import NamedTuple
from .rule_names import RuleGroup, RuleName, group_named, rule_names

UseCheck = Callable[[GuardUse, Facts, Project], Iterable[Finding]]
FileCheck = Callable[[Facts, Project], Iterable[Finding]]
EventCheck = Callable[[Event, Facts, Project], Iterable[Finding]]
PlaceCheck = Callable[[str, str], Iterable[Finding]]
CommentCheck = Callable[[Facts, Sequence["StaleCodes"]], Iterable[Finding]]
Questions = Callable[[Facts, Project], Iterable[str]]
Undecided = Callable[[Facts, Project], Iterable[GuardUse]]


class StaleCodes(NamedTuple):
    """What a comment names for nothing."""

    comment: Suppression
    unused: tuple[str, ...]
    """Codes of rules that were run and have no finding there."""
    unknown: tuple[str, ...]
    """Codes that no rule has."""


class UnknownRule(Exception):
    """A selector that names no rule."""


class RuleFix(Struct, frozen=True):
    """What fix a rule has; `codemods/fixes/` makes it."""

    most: Applicability
    """The most that a fix of the rule can claim."""
    always: bool = False
    """Every finding has one."""

    @property
    def availability(self) -> str:
        return "always" if self.always else "sometimes"


class Rule(Struct):
    """Code, name and defaults of one rule; its check is registered by a decorator."""

    code: str
    name: str
    group: RuleGroup | None = None
    """What comes of the code that it flags; None for a rule of a plugin that doesn't say."""
    severity: Severity = Severity.WARNING
    fix: RuleFix | None = None
    since: str = ""
    """The version of guardfix in which it first exists; of a plugin's rule, whatever the plugin says."""
    languages: tuple[str, ...] = ("cpp",)
    """The front ends whose files it looks at, by name."""
    guards: GuardChoice = gradient_guards
    """The rows of the guard table whose uses it looks at."""
    needles: tuple[bytes, ...] = ()
    """What else it looks at, calls or other text: each is a piece that is in the source as it is written here.
    A file is read when it holds one of these, or one of the guards."""
    needles_in: Mapping[str, tuple[bytes, ...]] = MappingProxyType({})
    """Such text by language, where it matters in files of one language only."""
    shape: bytes = b""
    """A regular expression that matches in each Python file in which such text matters; empty where any does."""
    odd_uses_only: bool = False
    """It never has a word about guards that are in their language's ordinary shapes (`with torch.no_grad():`), so
    that files which hold no others need not be parsed for it."""
    follows_models: bool = False
    """It asks what other files do with the models that a file runs: those are read as well."""
    asks_training: bool = False
    """It asks what files train with (`PythonFacts.training`, `wraps`), which is not read for other rules."""
    keeps_results: bool = False
    """What a program does stays the same when its advice is followed. Of other rules `guardfix verify` expects that
    something runs in another mode."""
    default: bool = True
    url: str | None = None
    """The page about a rule that does not come with guardfix."""
    docstring: str = ""
    """That of its module, as it is written there."""
    _uses: list[UseCheck] = field(default_factory=list)
    _files: list[FileCheck] = field(default_factory=list)
    _events: list[tuple[frozenset[EventKind], EventCheck]] = field(default_factory=list)
    _left_out: list[PlaceCheck] = field(default_factory=list)
    _questions: list[Questions] = field(default_factory=list)
    _undecided: list[Undecided] = field(default_factory=list)
    _comments: list[CommentCheck] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What would otherwise be taken letter by letter, or fail where nothing speaks of this rule.
        if not isinstance(self.languages, tuple) or not self.languages:
            raise ValueError(f'{self.code}: `languages` is a tuple of names, such as `("python",)`')
        if not all(isinstance(some, tuple) and all(map(_is_text, some)) for some in self._all_needles):
            raise ValueError(
                f'{self.code}: `needles` is a tuple of bytes, none of them empty, such as `(b"set_enabled",)`'
            )
        if self.guards is no_guards and not any(self._all_needles):
            raise ValueError(f"{self.code} looks at no guards and says nothing else that it looks at: give `needles`")

    @property
    def looks_wider(self) -> bool:
        """Whether files are parsed for it, where it is chosen, that no rule has a word about by default."""
        return not self.default and not self.odd_uses_only and self.guards is not no_guards

    @property
    def _all_needles(self) -> tuple[tuple[bytes, ...], ...]:
        return (self.needles, *self.needles_in.values())

    def needles_of(self, language: str) -> tuple[bytes, ...]:
        """What it looks for in files of a language, besides guards."""
        return (*self.needles, *self.needles_in.get(language, ()))

    @property
    def documentation(self) -> str:
        """What `guardfix explain` prints."""
        import inspect  # takes several milliseconds

        return inspect.cleandoc(self.docstring)

    @property
    def summary(self) -> str:
        """What it is about, in one line."""
        return self.documentation.split("\n", 1)[0].split(": ", 1)[-1].rstrip(".")

    @property
    def fix_text(self) -> str:
        """What fix it has, in words."""
        if self.fix is None:
            return "no fix"
        article = "an" if self.fix.most is Applicability.UNSAFE else "a"
        return f"{self.fix.availability} {article} {self.fix.most} fix"

    @property
    def in_short(self) -> str:
        """What it is, in one line: level, group, fix, default and age."""
        state = "on by default" if self.default else "off by default"
        group = f"group `{self.group}`" if self.group else None
        parts = [self.severity, group, self.fix_text, state, f"since {self.since}" if self.since else None]
        return ", ".join(part for part in parts if part)

    def check_use(self, check: UseCheck) -> UseCheck:
        """Register a check that is asked about each guard use."""
        self._uses.append(check)
        return check

    def check_file(self, check: FileCheck) -> FileCheck:
        """Register a check that is asked about each file."""
        self._files.append(check)
        return check

    def check_event(self, *kinds: EventKind) -> Callable[[EventCheck], EventCheck]:
        """Register a check that is asked about each certain event of these kinds, as abstract runs have shown it."""

        def register(check: EventCheck) -> EventCheck:
            self._events.append((frozenset(kinds), check))
            return check

        return register

    def check_left_out(self, check: PlaceCheck) -> PlaceCheck:
        """Register a check that is given (path, what was left out and why) of a folder or file that isn't looked at."""
        self._left_out.append(check)
        return check

    def asks(self, questions: Questions) -> Questions:
        """Register what the rule must know of files that hold no guard: names whose places could change a decision."""
        self._questions.append(questions)
        return questions

    def leaves_open(self, undecided: Undecided) -> Undecided:
        """Register which uses the rule cannot decide well: the project's other files are asked what they say."""
        self._undecided.append(undecided)
        return undecided

    def check_comments(self, check: CommentCheck) -> CommentCheck:
        """Register a check that is given the comments of a file that silence nothing."""
        self._comments.append(check)
        return check

    @property
    def has_check(self) -> bool:
        return any((self._uses, self._files, self._events, self._left_out, self._comments))

    @property
    def asks_about_comments(self) -> bool:
        """Whether comments that silence findings are also looked for in files without a guard."""
        return bool(self._comments)

    def comment_findings(self, facts: Facts, stale: Sequence[StaleCodes]) -> Iterator[Finding]:
        for check in self._comments:
            yield from check(facts, stale)

    @property
    def whole_project(self) -> bool:
        """Whether its decisions may need facts of files that hold no guard."""
        return bool(self._questions)

    def questions(self, facts: Facts, project: Project) -> Iterator[str]:
        for questions in self._questions:
            yield from questions(facts, project)

    def undecided(self, facts: Facts, project: Project) -> Iterator[GuardUse]:
        for undecided in self._undecided:
            yield from undecided(facts, project)

    def findings(self, facts: Facts, project: Project) -> Iterator[Finding]:
        for check in self._files:
            yield from check(facts, project)
        for check_use in self._uses:
            for use in facts.guard_uses:
                yield from check_use(use, facts, project)
        for kinds, check_event in self._events:
            for event in events_in(facts, project):
                if event.certain and event.kind in kinds:
                    yield from check_event(event, facts, project)

    def left_out_findings(self, path: str, why: str) -> Iterator[Finding]:
        for check in self._left_out:
            yield from check(path, why)

    def at(
        self,
        facts: Facts | str,
        span: Span,
        message: str,
        *,
        use: GuardUse | None = None,
        decision: Decision | None = None,
        severity: Severity | None = None,
        variable: str = "",
        steps: tuple[StepTaken, ...] = (),
    ) -> Finding:
        """A finding of this rule in a file, or at a path."""
        path = facts if isinstance(facts, str) else facts.path
        level = severity or self.severity
        return Finding(self.code, self.name, message, level, path, span, decision, use, variable, self.url, steps)

    def at_event(
        self, event: Event, facts: Facts, project: Project, message: str, *, span: Span | None = None
    ) -> Finding:
        """A finding of this rule about an event, with its steps, and its guard where that is in the same file."""
        use = use_of(event, facts)
        # To the machine, a decorator is all of its function's head.
        if use is not None and use.form is Form.DECORATOR and event.guard and event.guard.span == event.span:
            span = span or use.type_span
        return self.at(
            facts,
            span or event.span,
            message,
            use=use,
            variable=event.variable,
            steps=story_of(event, project),
        )


def _is_text(needle: object) -> bool:
    return isinstance(needle, bytes) and bool(needle)


@cache
def load_rule(name: RuleName) -> Rule:
    """The rule of a file in `rules/`. Raises `ValueError` where it has none, or one with another code or name."""
    module = importlib.import_module(f"{__package__}.rules.{name.module}")
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise ValueError(f"rules/{name.module}.py defines no `RULE`")
    if (rule.code, rule.name) != (name.code, name.name):
        raise ValueError(
            f"rules/{name.module}.py defines {rule.code} {rule.name}, but rules are found by their file's name, which "
            f"says {name.code} {name.name}"
        )
    if not rule.has_check:
        raise ValueError(f"{rule.code} has no check: nothing is decorated with `@RULE.check_file` or `@RULE.check_use`")
    return documented(rule, module.__doc__)


def documented(rule: Rule, docstring: str | None) -> Rule:
    """The rule with a module's docstring as its documentation; the first line is the summary."""
    rule.docstring = docstring or ""
    return rule


def all_rules() -> tuple[Rule, ...]:
    """Every rule that comes with guardfix, sorted by code."""
    return tuple(load_rule(name) for name in rule_names())


def find_rules(selector: str, more: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """The rules with that code or name. Raises `UnknownRule`.

    `more` are rules that do not come with guardfix; their names may be those of others.
    """
    found = [load_rule(name) for name in rule_names() if selector.lower() in (name.code.lower(), name.name)]
    found += [rule for rule in more if selector.lower() in (rule.code.lower(), rule.name)]
    if not found:
        raise UnknownRule(selector)
    return tuple(found)


def _is_all(selector: str) -> bool:
    return selector.upper() == "ALL"


class Selection(NamedTuple):
    """One layer of a choice of rules; what a file says over those that it extends, and the command line over files."""

    select: tuple[str, ...] = ()
    """The rules, instead of those that the layers before chose; empty to start from these."""
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    """Rules besides."""


def select_rules(select: Sequence[str] = (), ignore: Sequence[str] = (), more: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """The rules that `--select` and `--ignore` leave: by code, prefix (`GF4`), name, group (`raises`), or `ALL`.

    Without `select`, the rules that are on by default. The longer selector wins, as in Ruff, so
    `--select GF101 --ignore GF1` keeps GF101. `more` are rules that do not come with guardfix. Raises `UnknownRule`.
    """
    return chosen_rules([Selection(tuple(select), tuple(ignore))], more)


def chosen_rules(layers: Sequence[Selection], more: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """The rules that are left by several layers, each of which changes what the one before chose, as in Ruff.

    Inside a layer the longer selector wins; a layer's `ignore` takes away what those before chose. Raises
    `UnknownRule`.
    """
    known = _Known(more)
    for selector in (selector for layer in layers for part in layer for selector in part):
        if not known.means_any(selector):
            raise UnknownRule(selector)
    chosen = []
    for name in known.names:
        on: bool | None = None  # nothing said: as the rule has it
        for layer in layers:
            wanted = known.strength(name, (*layer.select, *layer.extend))
            unwanted = known.strength(name, layer.ignore)
            if layer.select or wanted or unwanted:
                on = wanted > unwanted
        if on is False:
            continue  # importing a rule takes time
        rule = known.rule(name)
        if on or rule.default:
            chosen.append(rule)
    return tuple(chosen)


class _Known:
    """The rules that can be chosen from: guardfix's, and more."""

    def __init__(self, more: Sequence[Rule]) -> None:
        self._more = {RuleName(rule.code, rule.name, ""): rule for rule in more}
        self.names = (*rule_names(), *self._more)

    def rule(self, name: RuleName) -> Rule:
        return self._more.get(name) or load_rule(name)

    def means_any(self, selector: str) -> bool:
        """Whether a selector is one: `G` would be all of guardfix's rules, or a slip."""
        if _is_all(selector) or group_named(selector) is not None:
            return True
        return selector.upper() != "G" and any(self._strength(selector, name) for name in self.names)

    def strength(self, name: RuleName, selectors: Iterable[str]) -> int:
        """How closely the closest of the selectors means the rule; 0 when none does."""
        return max((self._strength(selector, name) for selector in selectors), default=0)

    def _strength(self, selector: str, name: RuleName) -> int:
        if not selector:
            return 0
        if _is_all(selector):
            return 1
        if name.name == selector.lower():
            return _NAMED
        if name.code.startswith(selector.upper()):
            return len(selector) + 1
        group = group_named(selector)
        return _GROUP if group is not None and self.rule(name).group is group else 0


_GROUP = len("GF4") + 1
"""A group means a rule as closely as the prefix of one of the hundreds, so that either can be ignored in the other."""
_NAMED = 100
