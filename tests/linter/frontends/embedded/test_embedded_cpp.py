"""C++ in string literals and documents: found at its place, and edited in the literal's own spelling."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.embedded.embedded_cpp import find_literals, lay_out

BODY = (
    "at::Tensor run(at::Tensor x) {NL  auto module = torch::jit::load(p);NL  GUARD;NL  return module.forward(x);NL}NL"
)
OLD, NEW = "at::AutoNonVariableTypeMode guard(true)", "c10::InferenceMode guard"


def body(newline: str, guard: str = "GUARD") -> str:
    return BODY.replace("NL", newline).replace("GUARD", guard)


LITERALS = [
    pytest.param(f'x = """{body(chr(10), OLD)}"""\n', id="triple-quoted"),
    pytest.param(f"x = '''{body(chr(10), OLD)}'''\n", id="triple single quotes"),
    pytest.param(f'x = r"""{body(chr(10), OLD)}"""\n', id="raw"),
    pytest.param(f'x = b"""{body(chr(10), OLD)}"""\n', id="bytes"),
    pytest.param(f'x = "{body(chr(92) + "n", OLD)}"\n', id="one line with escapes"),
    pytest.param(f'x = u"{body(chr(92) + "x0a", OLD)}"\n', id="hexadecimal escapes"),
    pytest.param(f"é = '{body(chr(92) + 'n', OLD)}'\n", id="a wide character before it"),
    pytest.param(
        "x = f'''" + body("\n", OLD).replace("{", "{{").replace("}", "}}").replace("run", "{name}") + "'''\n",
        id="f-string",
    ),
    pytest.param(
        "x = rf'{1}' f'''" + body("\n", OLD).replace("{", "{{").replace("}", "}}") + "'''\n", id="joined literals"
    ),
    pytest.param(f"x = '''{body(chr(10), OLD).replace('run', '%s')}''' % name\n", id="percent template"),
    pytest.param(f"x = '''{body(chr(10), OLD).replace('run', '${name}')}'''\n", id="dollar template"),
]


@pytest.mark.parametrize(
    ("statement", "context"),
    [
        pytest.param("return {dispatch};", "unknown", id="a placeholder for a value is work"),
        pytest.param("{statements}", "unknown", id="a placeholder on a line of its own is work"),
        pytest.param("auto out = {expression};\n  return out;", "unknown", id="a placeholder that is assigned is work"),
        pytest.param("{kind} out;\n  return out;", "remove", id="a placeholder for a type is none"),
        pytest.param("return self;", "remove", id="nothing is left to do"),
    ],
)
def test_a_placeholder_can_stand_for_work(statement: str, context: str, tmp_path: Path) -> None:
    text = f"at::Tensor f(at::Tensor self) {{{{\n  {OLD};\n  {statement}\n}}}}\n"
    (tmp_path / "generate.py").write_text(f'TEMPLATE = f"""{text}"""\n')
    (finding,) = check([str(tmp_path)], Options(select=("GF105",), workers=1)).findings
    assert finding.decision is not None
    assert finding.decision.context.value == context


@pytest.mark.parametrize(
    ("statement", "context"),
    [
        pytest.param("return {{ dispatch }};", "unknown", id="a name of Jinja"),
        pytest.param("return {{op.call(a, b)|indent(2)}};", "unknown", id="a call of Jinja, with a filter"),
        pytest.param("{{- body }}", "unknown", id="a name of Jinja without the space in front"),
        pytest.param("{% include 'body' %}", "unknown", id="a statement of Jinja"),
        pytest.param("found = {{1, 2}};", "remove", id="numbers in the braces of C++"),
        pytest.param("found = {{rows, columns}};", "remove", id="names in the braces of C++"),
    ],
)
def test_only_a_name_in_double_braces_is_a_placeholder(statement: str, context: str, tmp_path: Path) -> None:
    text = f"int f(at::Tensor self, int rows, int columns) {{\n  {OLD};\n  Sizes found;\n  {statement}\n}}\n"
    (tmp_path / "generate.py").write_text(f'TEMPLATE = """{text}"""\n')
    (finding,) = check([str(tmp_path)], Options(select=("GF105",), workers=1)).findings
    assert finding.decision is not None
    assert finding.decision.context.value == context


@pytest.mark.parametrize("text", LITERALS)
def test_a_literal_is_found_and_migrated(text: str, tmp_path: Path) -> None:
    before = text[: text.index(OLD)]
    row, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    path = tmp_path / "templates.py"
    path.write_text(text, encoding="utf-8")
    report = fixes_for(check([str(path)], Options(workers=1)))
    (finding,) = report.findings
    source = Source(str(path), text.encode())
    assert (finding.code, *source.position(finding.span.start)) == ("GF105", row, column)
    apply_fixes(report)
    assert path.read_text(encoding="utf-8") == text.replace(OLD, NEW)


PROSE = [
    pytest.param(f'"""{OLD};"""\n', id="module docstring"),
    pytest.param(f'def f():\n    """{OLD};"""\n', id="function docstring"),
    pytest.param(f"x = 1\n'{OLD};'\n", id="a string that stands alone"),
    pytest.param("x = 'AutoNonVariableTypeMode'\n", id="the name alone"),
    pytest.param(f"x = 'You should not write {OLD}; any more'\n", id="a sentence"),
    pytest.param("x = '// Used to be at::AutoNonVariableTypeMode g;'\n", id="a C++ comment"),
    pytest.param("x = 'std::cout << \"at::AutoNonVariableTypeMode g;\";'\n", id="a string in C++"),
    pytest.param("x = 'class AutoNonVariableTypeMode;'\n", id="a declaration of the class"),
    pytest.param(f"# x = '{OLD};'\n", id="a comment"),
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prose.py"
    path.write_text(text)
    assert check([str(path)], Options(workers=1)).findings == []


ESCAPES = [
    pytest.param(r"'a\nb'", "a \nb", id="newline"),
    pytest.param(r"'a\tb'", "a \tb", id="tab"),
    pytest.param(r"'a\\b'", "a \\b", id="backslash"),
    pytest.param(r"""'a\'b'""", "a 'b", id="quote"),
    pytest.param(r"'a\x41b'", "a   Ab", id="hexadecimal"),
    pytest.param(r"'a\u00e9b'", "a    éb", id="two bytes of UTF-8"),
    pytest.param(r"'a\101b'", "a   Ab", id="octal"),
    pytest.param(r"'a\777b'", "a  \u01ffb", id="an octal number that Python warns about"),
    pytest.param(r"'a\N{BULLET}b'", "a       \u2022b", id="name"),
    pytest.param(r"'a\vb'", "a \vb", id="vertical tab"),
    pytest.param(r"'a\db'", r"a\db", id="not an escape"),
    pytest.param(r"'a\8b'", r"a\8b", id="not an octal number"),
    pytest.param("'a\\\nb'", "a  b", id="continued line"),
    pytest.param(r"r'a\nb'", r"a\nb", id="raw"),
    pytest.param("f'a{{b}}c'", "a {b }c", id="doubled braces"),
    pytest.param("f'a{name}c'", "a__namec", id="an expression becomes a name of its length"),
    pytest.param("'a${name}c'", "a___namec", id="a placeholder too"),
    pytest.param("'a${base_call}c'", "a$p.base_ca()c", id="one for a call becomes a call"),
    pytest.param("'a\\n  ${statements}\\nb'", "a \n                \nb", id="one alone on its line becomes blank"),
]


@pytest.mark.parametrize(("literal", "laid"), ESCAPES)
def test_what_the_cpp_parser_sees_has_every_byte_in_its_place(literal: str, laid: str) -> None:
    text = f"x = {literal[:-1]} AutoNonVariableTypeMode{literal[-1]}\n"
    source = Source("x.py", text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    (found,) = find_literals(source, tree)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = lay_out(source.text, found)
    assert len(out) == found.span.end - found.span.start
    start = found.pieces[0].content.start - found.span.start
    assert out[start:].decode().startswith(laid + " AutoNonVariableTypeMode")
    assert not out[:start].strip()


CODE = "void run() {\n  auto module = torch::jit::load(p);\n  at::AutoNonVariableTypeMode g(true);\n  module.forward(x);\n}\n"
NAME = "AutoNonVariableTypeMode"


def indented(code: str, by: str = "   ") -> str:
    return "".join(f"{by}{line}\n" for line in code.splitlines())


DOCUMENTS = [
    pytest.param("guide.md", f"# Guide\n\n```cpp\n{CODE}```\n", [6], id="a fence"),
    pytest.param("guide.md", f"~~~ c++\n{CODE}~~~\n", [4], id="a fence of tildes"),
    pytest.param("guide.md", f"```cpp\n{CODE}```\ntext\n```cpp\n{CODE}```\n", [4, 12], id="two fences"),
    pytest.param("guide.md", f"```python\n{CODE}```\n", [], id="another language"),
    pytest.param("guide.md", "Use `at::AutoNonVariableTypeMode g(true);` no more.\n", [], id="inline code"),
    pytest.param(
        "guide.rst",
        "Guide\n\n.. code-block:: cpp\n\n" + "".join(f"    {line}\n" for line in CODE.splitlines()) + "\nText\n",
        [7],
        id="a directive",
    ),
    pytest.param("guide.md", f'```c++ title="run.cpp" {{3}}\n{CODE}```\n', [4], id="attributes behind the language"),
    pytest.param("guide.md", f"``` {{.cpp .numberLines}}\n{CODE}```\n", [4], id="attributes of Pandoc"),
    pytest.param("guide.md", f"```{{code-block}} cpp\n{CODE}```\n", [4], id="a directive of MyST"),
    pytest.param("guide.md", f"```\n{CODE}```\n", [4], id="a fence without a language"),
    pytest.param("guide.md", f"```\nguard = {NAME}(True)\n```\n", [], id="Python in a fence without a language"),
    pytest.param("guide.md", f"```text\n```cpp\n{CODE}```\n", [], id="a fence within another language's"),
    pytest.param("guide.md", f"````cpp\n// ```\n{CODE}````\n", [5], id="a fence of four holds one of three"),
    pytest.param("guide.md", f"```cpp\n{CODE}", [4], id="a fence that is never closed"),
    pytest.param("guide.md", "1. Do\n\n   ```cpp\n" + indented(CODE) + "   ```\n", [6], id="a fence in a list"),
    pytest.param("guide.md", "- ```cpp\n" + indented(CODE) + "  ```\n", [4], id="a fence behind a bullet"),
    pytest.param("guide.md", "> ```cpp\n" + indented(CODE, "> ") + "> ```\n", [4], id="a fence in a quotation"),
    pytest.param(
        "guide.rst",
        f".. code-block:: c++\n   :linenos:\n   :caption: {NAME} guard;\n\n" + indented(CODE),
        [7],
        id="a directive with options",
    ),
    pytest.param("guide.rst", "- a\n\n  .. code:: cpp\n\n" + indented(CODE, "     "), [7], id="a directive in a list"),
    pytest.param("guide.rst", "Write::\n\n" + indented(CODE) + "\nText\n", [5], id="a literal block"),
    pytest.param("guide.rst", f"Write::\n\n   with {NAME}():\n       pass\n", [], id="Python in a literal block"),
    pytest.param(
        "guide.rst", ".. highlight:: python\n\nWrite::\n\n" + indented(CODE), [], id="another language is highlighted"
    ),
    pytest.param("guide.rst", ".. note::\n\n" + indented(CODE), [], id="a note is prose"),
    pytest.param("guide.rst", ".. code-block:: python\n\n" + indented(CODE), [], id="a directive of another language"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(("name", "text", "rows"), DOCUMENTS)
def test_documents_are_shown_and_never_edited(
    name: str, text: str, rows: list[int], newline: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    text = text.replace("\n", newline)
    path.write_bytes(text.encode())
    assert check([str(tmp_path)], Options(workers=1)).findings == []
    report = fixes_for(check([str(tmp_path)], Options(workers=1, include_docs=True)), choice=FixChoice(unsafe=True))
    source = Source(str(path), text.encode())
    assert [(f.code, source.position(f.span.start).row) for f in report.findings] == [("GF105", row) for row in rows]
    assert all(f.fix is not None and f.fix.applicability == "display" for f in report.findings)
    lines = text.splitlines()
    columns = [lines[row - 1].index(f"at::{NAME}") + 1 for row in rows]
    assert [source.position(f.span.start).column for f in report.findings] == columns
    assert not apply_fixes(report).written
    assert path.read_bytes() == text.encode()


def test_a_template_that_is_half_code_is_no_file_that_was_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text(f'x = """\nvoid run() {{\n  {OLD};\n  run(x);\n}}\n)( broken {{\n"""\n')
    report = check([str(path)], Options(workers=1))
    assert [(finding.code, finding.path) for finding in report.findings] == [("GF105", str(path))]
    assert report.partial == []
