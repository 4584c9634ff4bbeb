"""What comes from outside is printed as something to read, and never as something that acts."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from guardfix.foreign_text import own, printable, printed, printed_code, printed_page, readable, same_length
from guardfix.output.finding_places import xml_text
from guardfix.output.json_text import json_text
from guardfix.output.plain_echo import PrintingStream, echo
from guardfix.output.terminal_layout import hyperlink, styling
from hostile_texts import ACTS, acting_characters, harm_in


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a/b c.cpp", "a/b c.cpp", id="a name"),
        pytest.param("größe/解.cpp", "größe/解.cpp", id="a name in another language"),
        pytest.param("नम\u200cस 👩\u200d💻", "नम\u200cस 👩\u200d💻", id="joiners, which Persian and emoji need"),
        pytest.param(
            "❤️‍🔥 ☎\ufe0e 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e",
            "❤️‍🔥 ☎\ufe0e 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e",
            id="how emoji are drawn",
        ),
        pytest.param("a\u200db\ufe0f", "a<U+200D>b<U+FE0F>", id="joiners where there is nothing to join"),
        pytest.param("解\u3000é a\xa0b", "解\u3000é a\xa0b", id="spaces that are seen as such"),
        pytest.param("x\u3164\u2800\uffa0\ufffc", "x<U+3164><U+2800><U+FFA0><U+FFFC>", id="empty glyphs"),
        pytest.param("a\nb\tc", "a␊b\tc", id="a line feed in a name"),
        pytest.param("\x1b[31m\x07\r\x7f", "␛[31m␇␍␡", id="controls"),
        pytest.param("\x9b\x85", "<U+009B><U+0085>", id="C1"),
        pytest.param("\u202e\u2066\u200f", "<U+202E><U+2066><U+200F>", id="direction"),
        pytest.param("\u2028\ufeff\U000e0041", "<U+2028><U+FEFF><U+E0041>", id="ends of lines, nothing, a tag"),
        pytest.param("a\udcffb", "a\N{REPLACEMENT CHARACTER}b", id="a byte that is no UTF-8"),
    ],
)
def test_a_text_on_one_line(text: str, line: str) -> None:
    assert printable(text) == line
    assert len(same_length(text)) == len(text)


def test_nothing_that_acts_or_hides_is_printed_between_letters() -> None:
    assert [hex(ord(one)) for one in acting_characters() if one in printed(f"a{one}b")] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("one\n\ttwo\n", "one\n\ttwo\n", id="lines and tabs"),
        pytest.param("at::Tensor x; ::at::Tensor y", "at::Tensor x; ::at::Tensor y", id="C++ within a line"),
        pytest.param("## Heading [1]", "## Heading [1]", id="Markdown"),
        pytest.param("a\n  ::error::x", "a\n  \\::error::x", id="a command of GitHub"),
        pytest.param("::set-env name=A::b", "\\::set-env name=A::b", id="at the beginning"),
        pytest.param("x ##vso[a]b ##[c] ##teamcity[d]", "x #\\#vso[a]b #\\#[c] #\\#teamcity[d]", id="anywhere"),
        pytest.param(own("\x1b[1m") + "::x\x1b[1m" + own("\x1b[0m"), "\x1b[1m\\::x␛[1m\x1b[0m", id="own and foreign"),
        pytest.param("  " + own("\x1b[1m") + "::x", "  \x1b[1m\\::x", id="a color moves nothing"),
        pytest.param(own("\x1b[1m") + "|" + own("\x1b[0m") + " ::at::x", "\x1b[1m|\x1b[0m ::at::x", id="code in color"),
        pytest.param(own("a") + "b\n::c", "ab\n\\::c", id="a line that begins behind what is own"),
        pytest.param("\x1b0123456789abcdef(\x1b[31m", "␛0123456789abcdef(␛[31m", id="a guess at the mark"),
    ],
)
def test_a_text_over_lines(text: str, shown: str) -> None:
    assert printed(text) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param("   ::at::NoGradGuard g;\r\n", "   ::at::NoGradGuard g;\r\n", id="C++ and CRLF"),
        pytest.param(" ::c10::x(a ::b)\n", " ::c10::x(a ::b)\n", id="more C++"),
        pytest.param("+::set-output name=x::y\n", "+\\::set-output name=x::y\n", id="a command that is added"),
        pytest.param(" \t::Error file=a::b\n", " \t\\::Error file=a::b\n", id="whatever its case"),
        pytest.param("-a ##vso[b]\f\n", "-a #\\#vso[b]␌\n", id="another server's, and a form feed"),
    ],
)
def test_a_line_of_a_diff(line: str, shown: str) -> None:
    assert printed_code(line) == shown


def test_colors_and_links_are_our_own() -> None:
    assert printed(styling(True)("a\x1b[2J", fg="red")) == "\x1b[31ma␛[2J\x1b[0m"
    assert printed(styling(False)("a", fg="red")) == "a"
    assert printed(hyperlink("a\x07", "file:///a")) == "\x1b]8;;file:///a\x1b\\a␇\x1b]8;;\x1b\\"
    assert hyperlink("a", "x:\x1b\\\x07") == hyperlink("a", "x:ö") == "a"


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_documents_keep_what_they_say_and_hold_nothing_that_acts(act: str) -> None:
    text = json_text([act], indent=2)
    assert json.loads(text) == [act]
    assert harm_in(text.encode()) == []
    root = ElementTree.Element("a", b=xml_text(act))
    root.text = xml_text(act)
    assert harm_in(ElementTree.tostring(root, "us-ascii")) == []
    assert harm_in(ElementTree.fromstring(ElementTree.tostring(root)).attrib["b"].encode()) == []
    assert harm_in(printed_page(readable(act)).encode()) == []


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_every_way_of_writing_goes_through_the_stream(act: str) -> None:
    raw = io.BytesIO()
    stream = PrintingStream.around(io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace"))
    print(act, file=stream)
    stream.writelines([act, "\n"])
    echo(act, file=stream)
    stream.flush()
    assert harm_in(raw.getvalue()) == []
    plain = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    echo(act, file=plain)
    assert harm_in(plain.buffer.getvalue()) == []  # type: ignore[attr-defined]


def test_a_traceback_and_a_warning_go_through_it_too() -> None:
    program = (
        "import warnings\nfrom guardfix.cli.streams import guard_streams\nguard_streams()\n"
        "warnings.warn('a\\x1b[2J\\n::error::x')\nprint('\\x1b[1m', 'b\\u202e')\nraise ValueError('c\\x07\\n::error::y')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"a\xe2\x90\x9b[2J" in done.stderr
    assert b"c\xe2\x90\x87" in done.stderr
    assert harm_in(done.stdout + done.stderr) == []
