"""Comments that declare what a guard is for: which rows they are about, and what is none."""

from __future__ import annotations

import pytest

from guardfix.linter.files.intent_comments import find_intents
from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.cpp.cpp_masking import cpp_comments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("g;  // guardfix: kernel\nh;\n", [("kernel", [1])], id="behind the code"),
        pytest.param("// guardfix: kernel\ng;\nh;\n", [("kernel", [1, 2])], id="above it"),
        pytest.param("// guardfix: kernel\n\ng;\n", [("kernel", [1])], id="a blank line ends it"),
        pytest.param("// guardfix: kernel\n// more\ng;\n", [("kernel", [1, 2, 3])], id="above another comment"),
        pytest.param("// guardfix: kernel\n#if X\ng;\n#endif\n", [("kernel", [1, 2, 3])], id="above a condition"),
        pytest.param("/* guardfix: inference */ g;\n", [("inference", [1])], id="before the code"),
        pytest.param("/*\n * guardfix: remove\n */\ng;\n", [("remove", [1, 2, 3, 4])], id="in a block"),
        pytest.param("g;  // guardfix:below-autograd\n", [("below_autograd", [1])], id="with a dash, and no blank"),
        pytest.param("g;  // guardfix: Kernel\n", [("kernel", [1])], id="capitals"),
        pytest.param("// guardfix: kernel", [("kernel", [1])], id="at the end of the file"),
        pytest.param('g("// guardfix: kernel");\n', [], id="in a string"),
        pytest.param("// guardfix: ignore-file\ng;\n", [], id="another word"),
    ],
)
def test_rows(text: str, found: list[tuple[str, list[int]]]) -> None:
    source = Source("a.cpp", text.encode())
    intents = find_intents(source.text, source.row, cpp_comments).intents
    assert [(intent.purpose.value, list(intent.rows)) for intent in intents] == found


@pytest.mark.parametrize(
    ("comment", "says_more"),
    [
        ("// guardfix: kernel", False),
        ("/* guardfix: kernel */", False),
        ("// guardfix: kernel.", False),
        ("// guardfix: kernel, as it redispatches", True),
        ("// see below; guardfix: kernel", True),
    ],
)
def test_whether_a_comment_says_more(comment: str, says_more: bool) -> None:
    source = Source("a.cpp", comment.encode())
    (intent,) = find_intents(source.text, source.row, cpp_comments).intents
    assert intent.says_more is says_more


def test_a_word_that_declares_nothing_is_noted() -> None:
    source = Source("a.cpp", b"\ng;  // guardfix: kernal\n")
    found = find_intents(source.text, source.row, cpp_comments)
    assert not found.intents
    assert found.notes == (
        "line 2: `guardfix: kernal` declares nothing; the words are "
        "below_autograd, inference, kernel, preserve, remove",
    )
