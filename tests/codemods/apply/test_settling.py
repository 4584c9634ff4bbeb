"""Fixes that make room for others: one run does all of it, and a second one nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply import settling
from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Edit
from guardfix.codemods.fixable import FixableReport, fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import decode

HEAD = "#include <torch/script.h>\n"
LOADS = HEAD + "at::Tensor run(at::Tensor x) {{\n{body}  return module.forward({{x}}).toTensor();\n}}\n"


def report_of(path: Path, *, unsafe: bool = True) -> FixableReport:
    return fixes_for(check([str(path)], Options(workers=1)), FixChoice(unsafe=unsafe))


def test_an_edit_is_made_of_what_another_one_left(tmp_path: Path) -> None:
    """The guard of the old kind goes first, then the one beside it that the new one makes redundant."""
    path = tmp_path / "a.cpp"
    path.write_text(
        LOADS.format(
            body='  torch::NoGradGuard no_grad;\n  auto module = torch::jit::load("m");\n'
            "  at::AutoNonVariableTypeMode guard;\n"
        )
    )
    settled = settle(report_of(path))
    (rewritten,) = settled.rewrites
    assert rewritten.text.decode() == LOADS.format(
        body='  c10::InferenceMode guard;\n  auto module = torch::jit::load("m");\n'
    )
    assert not settled.last.findings


def test_the_hoist_takes_with_it_what_is_redundant_in_its_new_place(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        LOADS.format(
            body='  torch::NoGradGuard no_grad;\n  auto module = torch::jit::load("m");\n'
            "  at::AutoNonVariableTypeMode guard;\n"
        )
    )
    (finding,) = (finding for finding in report_of(path).findings if finding.code == "GF101")
    assert finding.fix is not None
    assert "NoGradGuard redundant" not in finding.fix.message, "in its own place it is not: it covers the load"
    assert "NoGradGuard redundant" in finding.fix.further[0].message


def test_nothing_is_read_anew_but_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guardfix.linter import project_reading

    read: list[str] = []
    whole = project_reading.extract_all

    def extract(job, **options):  # type: ignore[no-untyped-def]
        read.extend(Path(hit[1]).name for hit in job.hits)
        return whole(job, **options)

    monkeypatch.setattr(project_reading, "extract_all", extract)
    (tmp_path / "a.cpp").write_text(LOADS.format(body="  at::AutoNonVariableTypeMode guard;\n"))
    (tmp_path / "b.cpp").write_text("void f() {\n  torch::NoGradGuard guard;\n  g();\n}\n")
    report = report_of(tmp_path)
    assert {"a.cpp", "b.cpp"} == set(read)
    read.clear()
    assert settle(report).passes == 2
    assert set(read) == {"a.cpp"}


def test_fixes_that_undo_each_other_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(LOADS.format(body="  at::AutoNonVariableTypeMode guard;\n"))
    flip = {b"guard": b"other", b"other": b"guard"}

    def rewrites(report: FixableReport):  # type: ignore[no-untyped-def]
        source = report.unchanged(str(path))
        assert source is not None
        old = next(name for name in flip if name in source.text)
        yield Rewrite(source, source.text.replace(old, flip[old]))

    monkeypatch.setattr(settling, "rewrites", rewrites)
    (rewritten,) = settle(report_of(path)).rewrites
    assert "its fixes undo each other" in rewritten.refused
    assert not rewritten.changed


def test_a_report_that_no_check_made_gets_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(LOADS.format(body="  at::AutoNonVariableTypeMode guard;\n"))
    report = report_of(path)
    report.over = None
    assert settle(report).passes == 1
    with pytest.raises(ValueError, match="only what a check has found"):
        report.again({})


def rewrite_in_two_steps(text: bytes, first: Edit, second: Edit) -> Rewrite:
    source = decode(text, "a.txt")
    middle = text[: first.span.start] + first.content.encode() + text[first.span.end :]
    end = middle[: second.span.start] + second.content.encode() + middle[second.span.end :]
    step = Rewrite(decode(middle, "a.txt"), end, edits=[second])
    return Rewrite(source, middle, edits=[first]).then(step)


def test_places_are_followed_through_all_passes() -> None:
    rewritten = rewrite_in_two_steps(b"one two three", Edit(Span(0, 3), "first"), Edit(Span(6, 9), "2"))
    assert rewritten.text == b"first 2 three"
    assert rewritten.offset_after(8) == 8
    assert rewritten.offset_before(8) == 8
    assert rewritten.offset_before(0) == 0
    assert rewritten.offset_before(6) == 4


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD.encode() + b"// caf\xe9 \xc3\xa9\n", id="Latin-1 that begins to look like UTF-8"),
        pytest.param(b"\xef\xbb\xbf" + HEAD.encode(), id="a byte order mark"),
        pytest.param((HEAD + "// é\n").encode("utf-16"), id="UTF-16"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_no_byte_is_lost_between_passes(text: bytes, line_end: str, tmp_path: Path) -> None:
    encoding = "utf-16" if text.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
    body = LOADS.format(
        body='  torch::NoGradGuard no_grad;\n  auto module = torch::jit::load("m");\n  at::AutoNonVariableTypeMode g;\n'
    ).removeprefix(HEAD)
    path = tmp_path / "a.cpp"
    whole = (text.decode(encoding) + body).replace("\n", line_end)
    path.write_bytes(whole.encode(encoding))
    apply_fixes(report_of(path))
    done = path.read_bytes().decode(encoding)
    wanted = whole.replace(f"  torch::NoGradGuard no_grad;{line_end}", f"  c10::InferenceMode g;{line_end}")
    assert done == wanted.replace(f"  at::AutoNonVariableTypeMode g;{line_end}", "")
    before = path.read_bytes()
    apply_fixes(report_of(path))
    assert path.read_bytes() == before


def test_the_last_line_of_a_crlf_file_gets_no_other_end(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    text = b"#include <torch/script.h>\r\nvoid f() {\r\n  c10::InferenceMode a;\r\n  g();\r\n}\r\n#include <vector>"
    path.write_bytes(text.replace(b"c10::InferenceMode a;", b"c10::InferenceMode a;\r\n  torch::NoGradGuard b;"))
    apply_fixes(report_of(path))
    assert path.read_bytes() == text
