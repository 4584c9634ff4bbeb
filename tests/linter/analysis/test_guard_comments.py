"""What comments beside a guard say: about guards, about nothing else, about something else."""

from __future__ import annotations

import pytest

from cpp_snippets import snippet
from guardfix.linter.analysis.guard_comments import comments_about_guards, names_old_guard, speaks_of_nothing_else


def comments(above: str, behind: str = "") -> list[str]:
    use = snippet(f"void f() {{\n{above}\n  GUARD;{behind}\n  g();\n}}\n").use()
    return [comment.text for comment in use.comments]


@pytest.mark.parametrize(
    ("above", "behind", "found"),
    [
        pytest.param("  // one", "", ["one"], id="above"),
        pytest.param("", "  // two", ["two"], id="behind"),
        pytest.param("  // one\n  // more", " // two", ["one more", "two"], id="both"),
        pytest.param("  /* one\n   * more\n   */", "", ["one more"], id="a block"),
        pytest.param("  // one\n", "", [], id="a blank line between"),
        pytest.param("  h();  // one", "", [], id="behind another statement"),
        pytest.param('  h("// no");', "", [], id="a string"),
    ],
)
def test_which_comments_are_about_a_guard(above: str, behind: str, found: list[str]) -> None:
    assert comments(above, behind) == found


@pytest.mark.parametrize(
    ("text", "speaks", "untrue", "alone"),
    [
        ("TODO: should be InferenceMode but blocked: an op changes an inference tensor", True, False, False),
        ("disable view tracking", True, False, False),
        ("do not remove", True, False, False),
        ("Please don't ever change this", True, False, False),
        ("AutoNonVariableTypeMode, as nothing is differentiated", True, True, False),
        ("guard: see the notes", False, True, False),
        ("no gradients needed here", False, False, True),
        ("Disable gradients during inference.", False, False, True),
        ("turn off autograd to save memory", False, False, True),
        ("do not compute gradients", False, False, True),
        ("Warm up the caches", False, False, False),
        ("load the model without gradients", False, False, False),
        ("NOLINT(some-check): InferenceMode", False, False, False),
    ],
)
def test_what_a_comment_says(text: str, speaks: bool, untrue: bool, alone: bool) -> None:
    use = snippet(f"void f() {{\n  // {text}\n  GUARD;\n  g();\n}}\n").use()
    (comment,) = use.comments
    assert bool(list(comments_about_guards(use))) is speaks
    assert names_old_guard(comment, use) is untrue
    assert speaks_of_nothing_else(comment) is alone
