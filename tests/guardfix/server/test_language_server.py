"""The language server as an editor meets it: one real process, which all the tests share (hence over 500 lines)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from .editor_client import RICH, EditorClient, Message, applied, span

LEGACY = """#include <torch/script.h>

torch::Tensor run(torch::jit::Module& model, torch::Tensor x) {
  at::AutoNonVariableTypeMode guard;
  return model.forward({x}).toTensor();
}
"""
KERNEL = """#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}

TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }
"""
UNKNOWN = """#include <ATen/ATen.h>

void helper(at::Tensor x) {
  at::AutoNonVariableTypeMode guard;
  x.add_(1);
}
"""
ESCAPE = """import torch


def train(backbone, head, x):
    with torch.inference_mode():
        feats = backbone(x)
    return (feats * head.weight).sum().backward()
"""
CLEAN = "int main() { return 0; }\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    return folder


@pytest.fixture(scope="module")
def shared(project: Path) -> Iterator[EditorClient]:
    """One editor for the tests that leave nothing behind."""
    with EditorClient(project) as editor:
        yield editor
        assert editor.leave() == 0


@pytest.fixture(autouse=True)
def nothing_left_open(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "shared" in request.fixturenames:
        request.getfixturevalue("shared").close_all()


@pytest.fixture
def folder(project: Path, request: pytest.FixtureRequest) -> Path:
    """A project of its own below the editor's folder."""
    made = project / re.sub(r"\W+", "-", request.node.name)
    (made / ".git").mkdir(parents=True)
    return made


def configure(editor: EditorClient, **settings: object) -> None:
    editor.notify("workspace/didChangeConfiguration", {"settings": {"guardfix": {"debounce": 10} | settings}})


def codes(found: list[Message]) -> list[str]:
    return [one["code"] for one in found]


def test_what_it_says_it_can(shared: EditorClient) -> None:
    can = shared.welcome["capabilities"]
    assert shared.welcome["serverInfo"]["name"] == "guardfix"
    assert can["textDocumentSync"]["change"] == 2, "incremental"
    assert can["positionEncoding"] == "utf-16"
    assert can["hoverProvider"]
    assert can["codeActionProvider"]["codeActionKinds"] == ["quickfix", "source.fixAll.guardfix"]
    assert set(can["executeCommandProvider"]["commands"]) >= {"guardfix.checkWorkspace", "guardfix.verify"}


def test_an_opened_text_that_is_not_on_the_disk_is_checked(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "never_saved.cpp", LEGACY)
    [found] = shared.diagnostics(uri)
    assert found["range"] == span(3, 2, 3, 29)
    assert found["code"] == "GF101"
    assert found["source"] == "guardfix"
    assert found["message"].endswith("for an inference workload (inference, medium confidence)")
    assert found["codeDescription"]["href"].endswith("#gf101-legacy-guard")
    assert found["tags"] == [2], "deprecated"
    [related] = found["relatedInformation"]
    assert related["message"] == "for inference: a model is run under the guard: `model.forward`"
    assert related["location"] == {"uri": uri, "range": span(4, 9, 4, 9)}


def test_steps_are_related_places(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "steps.py", ESCAPE)
    [found] = [one for one in shared.diagnostics(uri) if one["code"] == "GF501"]
    told = [(one["message"][:8], one["location"]["range"]["start"]["line"]) for one in found["relatedInformation"]]
    assert told == [("step 1: ", 4), ("step 2: ", 5), ("step 3: ", 6)]
    shown = shared.hover(uri, 4, 15)["contents"]["value"].splitlines()
    steps = [line for line in shown if re.match(r"\d+\. ", line)]
    assert [line.partition("[")[2] for line in steps] == [f"line {row}]({uri}#L{row}))" for row in (5, 6, 7)]


def test_a_closed_text_has_no_findings(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "closed.cpp", LEGACY)
    assert shared.diagnostics(uri)
    shared.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert shared.diagnostics(uri) == []


EDITS = [
    pytest.param({"text": "NOPE", "range": span(3, 6, 3, 29)}, [], id="the guard's name goes"),
    pytest.param({"text": "", "range": span(3, 0, 4, 0)}, [], id="the line goes"),
    pytest.param({"text": "\n\n", "range": span(0, 0, 0, 0)}, [("GF101", 5, 2)], id="lines above it"),
    pytest.param({"text": "/* \u00e9\U0001f600 */ ", "range": span(3, 2, 3, 2)}, [("GF101", 3, 12)], id="signs before it"),
    pytest.param({"text": "", "range": span(5, 0, 99, 0)}, [("GF101", 3, 2)], id="to beyond the end"),
    pytest.param({"text": CLEAN}, [], id="another text"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), EDITS)
def test_an_edit_is_followed(
    shared: EditorClient, project: Path, request: pytest.FixtureRequest, change: Message, expected: list[Any]
) -> None:
    uri = shared.open(project / f"edited{abs(hash(request.node.name))}.cpp", LEGACY)
    assert codes(shared.diagnostics(uri)) == ["GF101"]
    shared.type(uri, 2, change)
    found = [
        (one["code"], one["range"]["start"]["line"], one["range"]["start"]["character"])
        for one in shared.diagnostics(uri, 2)
    ]
    assert found == expected


def test_several_changes_of_one_message_follow_each_other(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "several.cpp", CLEAN)
    assert shared.diagnostics(uri) == []
    shared.type(
        uri,
        2,
        {"text": "void f() {\n\n}\n", "range": span(0, 0, 0, 0)},
        {"text": "  at::AutoNonVariableTypeMode guard;", "range": span(1, 0, 1, 0)},
        {"text": "// ", "range": span(3, 0, 3, 0)},
    )
    [found] = shared.diagnostics(uri, 2)
    assert found["range"] == span(1, 2, 1, 29)


ENDS = [
    pytest.param("\n", id="LF"),
    pytest.param("\r\n", id="CRLF"),
    pytest.param("\r", id="CR"),
]


@pytest.mark.parametrize("end", ENDS)
def test_only_what_ends_a_line_in_the_editor_ends_one(
    shared: EditorClient, project: Path, end: str, request: pytest.FixtureRequest
) -> None:
    lines = ["// a form feed \x0c, U+2028 \u2028, NEL \x85, FS \x1c", *LEGACY.splitlines()]
    uri = shared.open(project / f"ends-{request.node.callspec.id}.cpp", end.join(lines))
    [found] = shared.diagnostics(uri)
    assert found["range"] == span(4, 2, 4, 29)
    shared.type(uri, 2, {"text": "c10::InferenceMode", "range": span(4, 2, 4, 29)})
    assert shared.diagnostics(uri, 2) == []


COLUMNS = [
    pytest.param("utf-8", 15, id="bytes"),
    pytest.param("utf-16", 10, id="UTF-16 units"),
    pytest.param("utf-32", 9, id="characters"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("encoding", "column"), COLUMNS)
def test_columns_count_what_was_agreed_on(tmp_path: Path, encoding: str, column: int) -> None:
    text = "void f() {\n/*\u00e9\u4e2d\U0001f600*/  at::AutoNonVariableTypeMode g;\n  h();\n}\n"
    capabilities = RICH | {"general": {"positionEncodings": [encoding]}}
    with EditorClient(tmp_path, capabilities=capabilities) as editor:
        uri = editor.open(tmp_path / "a.cpp", text)
        [found] = editor.diagnostics(uri)
        assert found["range"]["start"] == {"line": 1, "character": column}
        assert editor.hover(uri, 1, column)["range"]["start"] == {"line": 1, "character": column}
        editor.type(uri, 2, {"text": "", "range": span(1, column, 1, column + 30)})
        assert editor.diagnostics(uri, 2) == []


def test_of_rapid_edits_only_the_last_text_is_shown(shared: EditorClient, folder: Path) -> None:
    uri = shared.open(folder / "a.cpp", CLEAN)
    assert shared.diagnostics(uri) == []
    configure(shared, debounce=300)
    for version in range(2, 41):
        shared.type(uri, version, {"text": LEGACY if version % 2 else CLEAN})
    shared.type(uri, 41, {"text": LEGACY})
    shown = shared.told("textDocument/publishDiagnostics")
    assert (shown["version"], codes(shown["diagnostics"])) == (41, ["GF101"])
    assert shared.is_quiet("textDocument/publishDiagnostics", 0.4)
    configure(shared)


def test_an_open_text_decides_about_another(shared: EditorClient, folder: Path) -> None:
    """What is typed in one file, and not saved, is evidence for the next check of the other."""
    kernel, registration = KERNEL.split("TORCH_LIBRARY_IMPL")
    (folder / "register.cpp").write_text(CLEAN)
    other = shared.open(folder / "register.cpp", f"TORCH_LIBRARY_IMPL{registration}")
    assert shared.diagnostics(other) == []
    uri = shared.open(folder / "scale.cpp", kernel)
    [found] = shared.diagnostics(uri)
    assert "(kernel, " in found["message"]
    places = {one["location"]["uri"]: one["location"]["range"]["start"] for one in found["relatedInformation"]}
    assert places[other]["line"] == 0


FIXES = [
    pytest.param("kernel.cpp", KERNEL, "at::AutoDispatchBelowADInplaceOrView", True, id="a safe fix"),
    pytest.param("unsafe.cpp", LEGACY, "c10::InferenceMode", None, id="an unsafe fix"),
]


@pytest.mark.parametrize(("name", "text", "guard", "preferred"), FIXES)
def test_a_fix_is_offered(
    shared: EditorClient, project: Path, name: str, text: str, guard: str, preferred: bool | None
) -> None:
    uri = shared.open(project / name, text)
    [found] = shared.diagnostics(uri)
    actions = shared.actions(
        uri, span(*found["range"]["start"].values(), *found["range"]["start"].values()), ["quickfix"]
    )
    fix = actions[0]
    assert fix["title"].startswith(f"GF101: replace at::AutoNonVariableTypeMode with {guard}")
    assert fix["title"].endswith("(unsafe)") is (preferred is None)
    assert fix.get("isPreferred") == preferred
    assert fix["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 1}
    assert f"  {guard} guard;\n" in applied(text, fix["edit"])


def test_a_person_may_decide_what_the_code_leaves_open(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "unknown.cpp", UNKNOWN)
    assert "(unknown, " in shared.diagnostics(uri)[0]["message"]
    actions = shared.actions(uri, span(3, 5, 3, 5), ["quickfix"])
    offered = {one["title"]: applied(UNKNOWN, one["edit"]) for one in actions if "edit" in one}
    assert "  c10::InferenceMode guard;\n" in offered["GF101: use c10::InferenceMode (this runs a model)"]
    assert "guard;" not in offered["GF101: remove the guard (no guard is needed)"]
    assert len(offered) == 4


SILENCED = [
    pytest.param("silent.cpp", UNKNOWN, "  at::AutoNonVariableTypeMode guard;  // NOLINT(GF101)\n", id="C++"),
    pytest.param(
        "silent.py",
        "import torch\n\n\nasync def f():\n    torch.no_grad()\n    await g()\n",
        "    torch.no_grad()  # noqa: GF402\n",
        id="Python",
    ),
]


@pytest.mark.parametrize(("name", "text", "line"), SILENCED)
def test_a_comment_silences_a_finding(shared: EditorClient, project: Path, name: str, text: str, line: str) -> None:
    uri = shared.open(project / name, text)
    [found] = shared.diagnostics(uri)
    [action] = [one for one in shared.actions(uri, found["range"]) if "silence" in one["title"]]
    assert "edit" not in action, "made when it is chosen"
    silent = applied(text, shared.request("codeAction/resolve", action)["edit"])
    assert line in silent
    shared.type(uri, 2, {"text": silent})
    assert shared.diagnostics(uri, 2) == []


def test_all_safe_fixes_at_once(shared: EditorClient, project: Path) -> None:
    text = KERNEL + KERNEL.replace("scale", "shift") + UNKNOWN
    uri = shared.open(project / "all.cpp", text)
    assert len(shared.diagnostics(uri)) == 3
    [action] = shared.actions(uri, span(0, 0, 0, 0), ["source.fixAll"])
    fixed = applied(text, shared.request("codeAction/resolve", action)["edit"])
    assert fixed.count("at::AutoDispatchBelowADInplaceOrView guard;") == 2
    assert fixed.count("at::AutoNonVariableTypeMode guard;") == 1, "the open one stays"


def test_an_action_for_a_text_that_has_changed_edits_nothing(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "late.cpp", KERNEL)
    assert shared.diagnostics(uri)
    [action] = shared.actions(uri, span(0, 0, 0, 0), ["source.fixAll"])
    shared.type(uri, 2, {"text": "// a line\n", "range": span(0, 0, 0, 0)})
    assert "edit" not in shared.request("codeAction/resolve", action)


def test_no_action_where_nothing_is_found(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "elsewhere.cpp", KERNEL)
    assert shared.actions(uri, span(0, 0, 1, 0)) == []
    assert shared.actions(uri, span(4, 0, 4, 0), ["refactor"]) == []


@pytest.mark.thorough
def test_an_editor_of_few_abilities_gets_whole_actions(tmp_path: Path) -> None:
    with EditorClient(tmp_path, capabilities={}) as editor:
        uri = editor.open(tmp_path / "a.cpp", KERNEL)
        assert codes(editor.diagnostics(uri)) == ["GF101"]
        actions = editor.actions(uri, span(4, 5, 4, 5))
        assert all(one["edit"]["changes"][uri] for one in actions if "command" not in one)
        assert {one["kind"] for one in actions} == {"quickfix", "source.fixAll.guardfix"}


def test_the_rule_opens_in_a_browser(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "rule.cpp", LEGACY)
    [action] = [one for one in shared.actions(uri, span(3, 5, 3, 5)) if "read about" in one["title"]]
    shared.request("workspace/executeCommand", action["command"])
    shown = shared.told("window/showDocument")
    assert shown == {"uri": action["command"]["arguments"][0], "external": True}


HOVERS = [
    pytest.param(LEGACY, (3, 10), ["Deprecated since torch 1.9", "**inference** → `c10::InferenceMode`", "#L5"], id="a finding"),
    pytest.param(
        LEGACY.replace("at::AutoNonVariableTypeMode", "c10::InferenceMode"),
        (3, 10),
        ["### `c10::InferenceMode`", "| new tensors | inference tensors"],
        id="a guard without one",
    ),
    pytest.param(LEGACY, (2, 3), None, id="no guard"),
    pytest.param(UNKNOWN, (3, 4), ["**unknown**"], id="the sides of an open question"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "parts"), HOVERS)
def test_hover(
    shared: EditorClient, project: Path, request: pytest.FixtureRequest, text: str, place: Any, parts: Any
) -> None:
    uri = shared.open(project / f"hover{abs(hash(request.node.name))}.cpp", text)
    found = shared.hover(uri, *place)
    if parts is None:
        assert found is None
        return
    assert found["contents"]["kind"] == "markdown"
    assert [part for part in parts if part not in found["contents"]["value"]] == []


def test_python_guards_are_named_as_python_names_them(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "hover.py", "import torch\n\nwith torch.no_grad():\n    f()\n")
    assert "### `torch.no_grad`" in shared.hover(uri, 2, 8)["contents"]["value"]


def test_a_hint_says_what_the_guard_is_for(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "hint.cpp", KERNEL)
    asked = {"textDocument": {"uri": uri}, "range": span(0, 0, 8, 0)}
    [hint] = shared.request("textDocument/inlayHint", asked)
    assert (hint["position"], hint["label"]) == ({"line": 4, "character": 36}, "kernel (high)")
    assert shared.request("textDocument/inlayHint", asked | {"range": span(0, 0, 3, 0)}) == []


@pytest.mark.thorough
def test_a_program_can_be_verified(tmp_path: Path) -> None:
    text = "import torch\n\nwith torch.no_grad():\n    torch.no_grad()\n    print(torch.ones(2))\n"
    (tmp_path / "program.py").write_text(text)
    with EditorClient(tmp_path) as editor:
        uri = editor.open(tmp_path / "program.py", text)
        [lens] = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        editor.request("workspace/executeCommand", lens["command"])
        asked = [one["params"] for one in editor.answers if one["method"] == "window/showMessageRequest"]
        assert "Do you trust this program?" in asked[0]["message"]
        assert "program.py" in editor.told("window/logMessage")["message"]
        assert "program.py" in editor.told("window/showMessage")["message"]


def test_a_program_that_is_not_saved_is_not_run(shared: EditorClient, project: Path) -> None:
    (project / "unsaved.py").write_text("import torch\n")
    uri = shared.open(project / "unsaved.py", "import torch\ntorch.no_grad()\nprint(1)\n")
    shared.request("workspace/executeCommand", {"command": "guardfix.verify", "arguments": [uri]})
    assert "save the program first" in shared.told("window/showMessage")["message"]


def test_a_cancelled_request_is_answered_as_such(shared: EditorClient, project: Path) -> None:
    large = project / "large.cpp"
    with shared.at_once():
        uri = shared.open(large, LEGACY * 60)
        place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 5}}
        number = shared.ask("textDocument/hover", place)
        shared.notify("$/cancelRequest", {"id": number})
    assert shared.answer(number)["error"]["code"] == -32800
    assert len(shared.diagnostics(uri)) == 60, "others still wait for the same check"


def test_a_request_that_fails_leaves_the_server_alive(shared: EditorClient, project: Path) -> None:
    uri = shared.open(project / "alive.cpp", LEGACY)
    broken = {"title": "x", "data": {"uri": uri, "version": 1, "silenced": 77}}
    error = shared.answer(shared.ask("codeAction/resolve", broken))["error"]
    assert "IndexError" in error["message"]
    assert shared.answer(shared.ask("guardfix/unheardOf", {}))["error"]["code"] == -32601
    assert codes(shared.diagnostics(uri)) == ["GF101"]
    assert shared.hover(uri, 3, 10) is not None


def test_a_bad_configuration_is_told_once_and_mended(shared: EditorClient, folder: Path) -> None:
    (folder / "guardfix.toml").write_text('selct = ["GF1"]\n')
    uri = shared.open(folder / "a.cpp", LEGACY)
    assert shared.diagnostics(uri) == []
    assert "unknown setting `selct`; did you mean `select`?" in shared.told("window/showMessage")["message"]
    shared.type(uri, 2, {"text": " ", "range": span(0, 0, 0, 0)})
    assert shared.is_quiet("window/showMessage", 0.4)
    (folder / "guardfix.toml").write_text('select = ["GF1"]\n')
    changed = [{"uri": (folder / "guardfix.toml").as_uri(), "type": 2}]
    shared.notify("workspace/didChangeWatchedFiles", {"changes": changed})
    assert codes(shared.diagnostics(uri, 2)) == ["GF101"]


def test_each_folder_has_its_own_configuration(shared: EditorClient, folder: Path) -> None:
    (folder / "sub" / "third_party").mkdir(parents=True)
    (folder / "sub" / "guardfix.toml").write_text('ignore = ["GF102"]\nexclude = ["third_party/"]\n')
    text = LEGACY.replace("guard;", "guard(false);")
    names = ("a.cpp", "sub/a.cpp", "sub/third_party/a.cpp")
    for name in names:
        (folder / name).write_text(CLEAN)
    found = [codes(shared.diagnostics(shared.open(folder / name, text))) for name in names]
    assert found == [["GF101", "GF102"], ["GF101"], []]


@pytest.mark.thorough
def test_the_whole_workspace_is_checked_with_progress(tmp_path: Path) -> None:
    for name in ("a.cpp", "sub/b.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(LEGACY)
    (tmp_path / "clean.cpp").write_text(CLEAN)
    with EditorClient(tmp_path, options={"workspace": True}) as editor:
        first, second = ((tmp_path / name).as_uri() for name in ("a.cpp", "sub/b.cpp"))
        assert codes(editor.diagnostics(first)) == codes(editor.diagnostics(second)) == ["GF101"]
        end = editor.wait_for(
            lambda message: message.get("method") == "$/progress" and message["params"]["value"]["kind"] == "end"
        )
        assert end["params"]["value"]["message"] == "2 findings in 2 files"
        (tmp_path / "a.cpp").write_text(CLEAN)
        editor.request("workspace/executeCommand", {"command": "guardfix.checkWorkspace", "arguments": []})
        assert editor.diagnostics(first) == []


@pytest.mark.thorough
def test_a_workspace_of_several_folders(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / ".git").mkdir(parents=True)
        (folder / "a.cpp").write_text(LEGACY)
        (folder / "user.cpp").write_text(UNKNOWN)
    (one / "guardfix.toml").write_text('exclude = ["user.cpp"]\n')
    (two / "registered.cpp").write_text('TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("help", helper); }\n')
    with EditorClient(one, two, options={"workspace": True}) as editor:
        in_one, in_two, decided = ((tmp_path / name).as_uri() for name in ("one/a.cpp", "two/a.cpp", "two/user.cpp"))
        assert codes(editor.diagnostics(in_one)) == codes(editor.diagnostics(in_two)) == ["GF101"]
        [found] = editor.diagnostics(decided)
        assert "registered.cpp" in str(found["relatedInformation"]), "evidence of the same folder counts"
        opened = editor.open(one / "user.cpp", UNKNOWN)
        assert editor.diagnostics(opened) == [], "each folder's configuration counts in it"
        gone = {"added": [], "removed": [{"uri": two.as_uri(), "name": "two"}]}
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": gone})
        assert editor.diagnostics(in_two) == editor.diagnostics(decided) == []
        assert codes(editor.diagnostics(in_one)) == ["GF101"]


def test_a_closed_file_of_a_checked_workspace_is_shown_as_it_is_on_the_disk(shared: EditorClient, folder: Path) -> None:
    (folder / "read.cpp").write_text(LEGACY)
    shared.request("workspace/executeCommand", {"command": "guardfix.checkWorkspace", "arguments": []})
    uri = (folder / "read.cpp").as_uri()
    assert codes(shared.diagnostics(uri)) == ["GF101"]
    assert shared.diagnostics(shared.open(folder / "read.cpp", CLEAN)) == []
    shared.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert shared.diagnostics(uri) == []
    assert codes(shared.diagnostics(uri)) == ["GF101"], "what was typed was not saved"


def test_what_is_open_is_not_shown_as_it_is_on_the_disk(shared: EditorClient, folder: Path) -> None:
    (folder / "open.cpp").write_text(LEGACY)
    (folder / "shut.cpp").write_text(LEGACY)
    uri = shared.open(folder / "open.cpp", CLEAN)
    assert shared.diagnostics(uri) == []
    shared.request("workspace/executeCommand", {"command": "guardfix.checkWorkspace", "arguments": []})
    assert codes(shared.diagnostics((folder / "shut.cpp").as_uri())) == ["GF101"]
    with pytest.raises(AssertionError, match="waited in vain"):
        shared.wait_for(lambda message: (message.get("params") or {}).get("uri") == uri, 0.2)


def test_settings_of_the_editor(shared: EditorClient, folder: Path) -> None:
    configure(shared, inlayHints=False, codeLens="yes")
    assert "`guardfix.codeLens` can't be 'yes'; it stays True" in shared.told("window/showMessage")["message"]
    uri = shared.open(folder / "a.cpp", KERNEL)
    asked = {"textDocument": {"uri": uri}, "range": span(0, 0, 8, 0)}
    assert shared.request("textDocument/inlayHint", asked) == []
    configure(shared)
    assert len(shared.request("textDocument/inlayHint", asked)) == 1


@pytest.mark.thorough
def test_initialization_options_outlast_an_editor_without_settings(tmp_path: Path) -> None:
    with EditorClient(tmp_path, options={"inlayHints": False, "codeLens": 1}) as editor:
        assert "`guardfix.codeLens` can't be 1; it stays True" in editor.told("window/showMessage")["message"]
        editor.told("workspace/configuration")  # answered with null
        uri = editor.open(tmp_path / "a.cpp", KERNEL)
        asked = {"textDocument": {"uri": uri}, "range": span(0, 0, 8, 0)}
        assert editor.request("textDocument/inlayHint", asked) == []
        editor.notify("workspace/didChangeConfiguration", {"settings": {"clangd": {}}})
        assert editor.request("textDocument/inlayHint", asked) == []
        configure(editor, inlayHints=True)
        assert len(editor.request("textDocument/inlayHint", asked)) == 1


def test_other_languages_and_places_are_left_alone(shared: EditorClient, project: Path) -> None:
    text = {"languageId": "cpp", "version": 1, "text": LEGACY}
    shared.notify("textDocument/didOpen", {"textDocument": {"uri": "untitled:Untitled-1", **text}})
    rust = shared.open(project / "a.rs", LEGACY)
    assert shared.hover("untitled:Untitled-1", 3, 10) is None
    assert shared.hover(rust, 3, 10) is None


@pytest.mark.thorough
def test_a_connection_that_breaks_ends_the_server(tmp_path: Path) -> None:
    with EditorClient(tmp_path) as editor:
        editor.open(tmp_path / "a.cpp", LEGACY * 100)
        assert editor.hang_up() == 1


@pytest.mark.thorough
def test_a_file_of_twenty_thousand_lines(tmp_path: Path) -> None:
    text = "".join(f"int f{n}(int a) {{\n  return a + {n};\n}}\n" for n in range(6665)) + LEGACY
    with EditorClient(tmp_path) as editor:
        uri = editor.open(tmp_path / "a.cpp", text)
        [found] = editor.diagnostics(uri)
        assert found["range"]["start"]["line"] == 6665 * 3 + 3
        for version in range(2, 12):
            editor.type(uri, version, {"text": "\n", "range": span(0, 0, 0, 0)})
        [found] = editor.diagnostics(uri, 11)
        assert found["range"]["start"]["line"] == 6665 * 3 + 13


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_project_of_five_thousand_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for number in range(5000):
        part = tmp_path / f"part{number // 100}"
        part.mkdir(exist_ok=True)
        (part / f"f{number}.cpp").write_text("".join(f"int f{number}_{n}(int a) {{ return a; }}\n" for n in range(40)))
    with EditorClient(tmp_path) as editor:
        took = []
        for number in range(3):
            path = tmp_path / "part7" / f"open{number}.cpp"
            before = processor_time_of(editor.pid)
            [found] = editor.diagnostics(editor.open(path, UNKNOWN.replace("helper", f"helper{number}")))
            assert found["code"] == "GF101"
            took.append(processor_time_of(editor.pid) - before)
        # What the first one asked all files of the project for is known to the others.
        assert max(took[1:]) < took[0] / 3, took
        registering = tmp_path / "part20" / "f2000.cpp"
        registered = 'TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", helper2); }\n'
        editor.diagnostics(editor.open(registering, registered))
        uri = (tmp_path / "part7" / "open2.cpp").as_uri()
        editor.type(uri, 2, {"text": "\n", "range": span(0, 0, 0, 0)})
        [found] = editor.diagnostics(uri, 2)
        assert "f2000.cpp" in str(found["relatedInformation"]), "a registration that is not saved counts"


def processor_time_of(pid: int) -> int:
    """Ticks that a process has had so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def memory_of(pid: int) -> int:
    """Kilobytes that a process has in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_flat_over_ten_thousand_edits(tmp_path: Path) -> None:
    with EditorClient(tmp_path, options={"debounce": 0}) as editor:
        uri = editor.open(tmp_path / "a.cpp", KERNEL)
        assert editor.diagnostics(uri)
        sizes = []
        for version in range(2, 10_002):
            # Names change, too: what is asked of the project is another thing each time.
            editor.type(uri, version, {"text": KERNEL.replace("scale", f"scale{version % 977}")})
            if version % 10 == 0:
                editor.diagnostics(uri, version)
            if version % 2000 == 0:
                sizes.append(memory_of(editor.pid))
    # What is bounded fills first; 4,000 edits that each kept two kilobytes would be seen.
    assert sizes[-1] < sizes[2] * 1.08, sizes
