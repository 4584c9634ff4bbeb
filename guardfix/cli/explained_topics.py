"""What `guardfix explain` prints of guards, of PyTorch's messages, of groups of rules and of rules named alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guardfix.linter.guards import CPP, PYTHON, Effect, Guard
from guardfix.linter.rule import Rule, load_rule
from guardfix.linter.rule_names import RuleGroup, RuleName, rule_names
from guardfix.pytorch_messages.message_table import KnownMessage, known_messages

from ..output.finding_places import ERRORS_PAGE, PROJECT_PAGE
from ..output.terminal_layout import wrapped

_EFFECTS = {
    Effect.INFERENCE: "Nothing is recorded, no versions are counted, no views tracked. Tensors that are made while it "
    "is on stay inference tensors for good: outside they can't be changed in place, saved for backward, or made to "
    "require gradients.",
    Effect.GRAD_MODE: "Switches the recording of autograd. Tensors are ordinary ones.",
    Effect.BELOW_AUTOGRAD: "Hides the Autograd keys, so that an op's backend kernel is called. For kernels, not for "
    "programs that run a model.",
    Effect.BELOW_ADINPLACEORVIEW: "Hides the Autograd keys and ADInplaceOrView: nothing is recorded, no versions are "
    "counted, no views tracked. For autograd kernels that call the dispatcher again.",
    Effect.NEIGHBOUR: "Does nothing to autograd.",
}
_LEGACY = (
    "Deprecated. What it should be replaced by depends on what it is for: `guardfix migrate` shows each replacement "
    "with its evidence."
)


def guards_named(text: str) -> list[tuple[str, Guard]]:
    """(language, row) of the guards that a name means, qualified or not, in any case."""
    name = text.strip().strip("`@").removesuffix("()").replace("::", ".")
    space, _, last = name.rpartition(".")
    found = []
    for language, table in (("C++", CPP), ("Python", PYTHON)):
        for guard in table.values():
            spaces = {one.replace("::", ".") for one in guard.namespaces}
            if last.lower() == guard.name.lower() and (not space or not spaces or space in spaces):
                found.append((language, guard))
    return found


def guard_page(language: str, guard: Guard, width: int | None) -> str:
    """One guard: what it does, where it comes from, and the rules about it."""
    separator = "::" if language == "C++" else "."
    space = f"{guard.namespaces[0]}{separator}" if guard.namespaces else ""
    facts = [language, str(guard.effect)]
    facts += [f"since torch {guard.since}"] if guard.since else []
    facts += [f"deprecated since torch {guard.deprecated_since}"] if guard.deprecated_since else []
    lines = [f"{space}{guard.name}: {', '.join(facts)}", "", _EFFECTS[guard.effect]]
    if guard.deprecated_since:
        lines += ["", _LEGACY]
    if guard.headers:
        lines += ["", f"Header: {guard.headers[0]}"]
    frontend = "cpp" if language == "C++" else "python"
    rules = [rule for rule in map(load_rule, rule_names()) if frontend in rule.languages and rule.guards(guard)]
    rules = [rule for rule in rules if not rule.code.startswith("GF0")]  # those are about files and comments
    lines += ["", "Rules about it:", *(f"  {rule.code}  {rule.name}: {rule.summary}" for rule in rules)]
    return "\n".join([*fitted(lines, width), "", f"{PROJECT_PAGE}/blob/main/docs/guards.md"])


def group_page(group: RuleGroup, width: int | None) -> str:
    """One group: what its rules have in common, and which they are."""
    rules = [rule for rule in map(load_rule, rule_names()) if rule.group is group]
    lines = [f"{group}: {group.meaning}.", "", "Its rules:"]
    lines += [f"  {rule.code}  {rule.name}: {rule.summary}" for rule in rules]
    return "\n".join(fitted([*lines, "", f"`guardfix check --select {group}` runs these alone."], width))


def rules_named_like(text: str) -> list[RuleName]:
    """The rules whose codes begin with a text, or whose names have it in them."""
    wanted = text.strip().lower().replace("_", "-").replace(" ", "-")
    if len(wanted) < 2:
        return []
    return [one for one in rule_names() if one.code.lower().startswith(wanted) or wanted in one.name]


def list_of_rules(names: Iterable[RuleName]) -> Iterator[str]:
    """One line a rule."""
    for name in names:
        rule = load_rule(name)
        yield f"{rule.code}  {rule.name}: {rule.summary}"


def message_page(message: KnownMessage, width: int | None) -> str:
    """One message: its wordings, what it means, what cures it, and the rules about it."""
    lines = [message.title, ""]
    for text in message.texts[1:]:
        when = "".join((f" since {text.since}" if text.since else "", f" up to {text.until}" if text.until else ""))
        lines.append(f"  also{when}: {text.words.replace('{}', '…')}")
    lines += [""] if len(message.texts) > 1 else []
    lines += [message.cause, "", "What cures it:"]
    for index, cure in enumerate(message.cures, 1):
        lines += [f"  {index}. {cure.change}", f"     cost: {cure.cost}"]
    rules = [one for one in rule_names() if one.code in message.rules]
    if rules:
        lines += ["", "Rules about it:", *(f"  {line}" for line in list_of_rules(rules))]
    lines += ["", "Where it comes from in your program: pipe the traceback to `guardfix why`."]
    return "\n".join([*fitted(lines, width), "", f"{ERRORS_PAGE}#{message.key}"])


def fitted(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """The lines broken to fit the terminal; what goes on is indented a little more than it began."""
    for line in lines:
        blanks = len(line) - len(line.lstrip())
        yield from wrapped(line, width, indent=" " * (blanks + 3 if blanks else 0))


def errors_page() -> str:
    """docs/errors.md: every message, with cause, cures and rules."""
    lines = [
        "# Errors",
        "",
        "Made by `guardfix explain ERRORS`, from the table that the rules, the shim and `guardfix why` take their "
        "words from.",
        "",
        "What PyTorch says when a guard is in the wrong place, or missing; what it means, and what cures it. The "
        "texts are those of PyTorch 1.9 to 2.13. To find the place in your own program that an error comes from, pipe "
        "its traceback:",
        "",
        "```sh",
        "python train.py 2>&1 | guardfix why",
        "```",
        "",
    ]
    for kind, heading in (("error", "Messages"), ("warning", "Warnings"), ("symptom", "Without a message")):
        lines += [f"## {heading}", ""]
        for message in known_messages().values():
            if message.kind == kind:
                lines += _section(message)
    return "\n".join(lines).rstrip() + "\n"


def _section(message: KnownMessage) -> Iterator[str]:
    yield f'<a id="{message.key}"></a>'
    yield ""
    yield f"### {_plain(message.title)}"
    yield ""
    for text in message.texts:
        notes = [f"since {text.since}"] if text.since else []
        notes += [f"up to {text.until}"] if text.until else []
        notes += ["C++"] if text.cpp_only else []
        if notes:
            yield f"{', '.join(notes)[:1].upper()}{', '.join(notes)[1:]}:"
            yield ""
        yield "```text"
        yield text.words.replace("{}", "…")
        yield "```"
        yield ""
    yield f"**Cause.** {message.cause}"
    yield ""
    yield "| cure | cost |"
    yield "|---|---|"
    for cure in message.cures:
        yield f"| {_cell(cure.change)} | {_cell(cure.cost)} |"
    yield ""
    found = [one for one in rule_names() if one.code in message.rules]
    if found:
        links = ", ".join(f"[{one.code} {one.name}](rules.md#{one.code.lower()}-{one.name})" for one in found)
        yield f"**Rules.** {links}"
        yield ""


def _plain(text: str) -> str:
    return text.replace("<", "&lt;").replace("_", "\\_").replace("|", "\\|")


def _cell(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".replace("|", "\\|") if not text.startswith("`") else text.replace("|", "\\|")


def messages_of(rule: Rule) -> list[KnownMessage]:
    """The messages that a rule is about."""
    return [message for message in known_messages().values() if rule.code in message.rules]
