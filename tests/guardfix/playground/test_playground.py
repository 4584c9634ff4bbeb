"""`guardfix serve`: what is said of a pasted text, and who is answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")
pytest.importorskip("jinja2")

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from guardfix.playground.live_report import LiveReport, ReportFailed
from guardfix.playground.local_requests import LocalRequests
from guardfix.playground.pasted_code import guessed_language, pasted_answer
from guardfix.playground.playground_app import MOST_BYTES, playground_app
from guardfix.playground.playground_examples import EXAMPLES, Example

HERE = "http://127.0.0.1:8390"
SECRET = "the-secret"
KERNEL = EXAMPLES[0].text
PREDICT = next(one.text for one in EXAMPLES if one.title.startswith("Guards that aren't entered"))

LANGUAGES = [
    pytest.param(KERNEL, "cpp", id="a kernel"),
    pytest.param(PREDICT, "python", id="a script"),
    pytest.param("with torch.no_grad():\n    pass\n", "python", id="a with statement"),
    pytest.param("at::NoGradGuard guard;\n", "cpp", id="a declaration"),
    pytest.param("", "cpp", id="nothing"),
]


@pytest.mark.parametrize(("text", "language"), LANGUAGES)
def test_the_language_is_guessed(text: str, language: str) -> None:
    assert guessed_language(text) == language


ANSWERS = [
    # (text, language, unsafe fixes too, rules found, fixes applied, a line of the fixed text)
    pytest.param(KERNEL, "", False, ["GF101"], 1, "  at::AutoDispatchBelowADInplaceOrView guard;", id="a safe fix"),
    pytest.param(PREDICT, "", False, ["GF403", "GF402"], 1, "    with torch.no_grad():", id="one of two is fixed"),
    pytest.param("int main() {}\n", "", True, [], 0, "int main() {}", id="nothing is found"),
    pytest.param(
        '#include "/etc/passwd"\nat::NoGradGuard g;\n',
        "cpp",
        True,
        ["GF204"],
        0,
        "at::NoGradGuard g;",
        id="no file is read",
    ),
    pytest.param("torch.no_grad()\n", "cpp", True, [], 0, "torch.no_grad()", id="as the language that was chosen"),
]


@pytest.mark.parametrize(("text", "language", "unsafe", "rules", "applied", "line"), ANSWERS)
def test_what_is_said_of_a_text(
    text: str, language: str, unsafe: bool, rules: list[str], applied: int, line: str
) -> None:
    answer = pasted_answer(text, language, unsafe=unsafe)
    assert [one["rule"] for one in answer["findings"]] == rules
    assert answer["applied"] == applied
    assert line in answer["fixed"].splitlines()
    assert bool(answer["diff"]) == bool(applied)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_an_example_has_a_finding(example: Example) -> None:
    assert guessed_language(example.text) == example.language
    assert pasted_answer(example.text, example.language)["findings"] != []


def test_an_example_of_an_error_is_found_by_its_words() -> None:
    for example in EXAMPLES:
        if example.error:
            says = str(pasted_answer(example.text, example.language))
            assert example.title.rpartition(" (")[0] in says


def choices_of(title: str) -> list[dict[str, Any]]:
    [example] = [one for one in EXAMPLES if one.title.startswith(title)]
    choices: list[dict[str, Any]] = pasted_answer(example.text)["choices"]
    return choices


def test_what_each_choice_leads_to() -> None:
    before, since, inference, kernel = choices_of("Inplace update")
    assert [one["line"] for one in (before, since, inference, kernel)] == [
        "",
        "",
        "c10::InferenceMode guard;",
        "at::AutoDispatchBelowADInplaceOrView guard;",
    ]
    [event] = inference["events"]
    assert (event["row"], event["steps"][-1]) == (10, "line 10: `mul_` changes `scores` in place, outside the mode")
    assert event["raises"].startswith("Inplace update to inference tensor outside InferenceMode")
    assert before["events"] == since["events"] == kernel["events"] == []


TRACES = [
    # The title of an example, what its choices say of a step, and whether that differs from one to the other.
    pytest.param(
        "Nothing says",
        (5, "add_"),
        [
            "autograd off, version not counted",
            *["autograd off, version counted"] * 2,
            "autograd off, version not counted",
        ],
        True,
        id="a write",
    ),
    pytest.param(
        "Inplace update",
        (5, "t"),
        ["autograd off, view not tracked", *["autograd off, view tracked"] * 2, "autograd off, view not tracked"],
        True,
        id="a view",
    ),
    pytest.param(
        "A kernel",
        (6, "mul"),
        [f"autograd off, gives {kind} tensor" for kind in ("a normal", "a normal", "an inference", "a normal")],
        True,
        id="a new tensor",
    ),
    pytest.param("A model", (7, "model.forward"), ["autograd off"] * 4, False, id="a model"),
    pytest.param(
        "Inplace update", (9, "ones"), ["autograd on, gives a normal tensor"] * 4, False, id="outside of the guard"
    ),
]


@pytest.mark.parametrize(("title", "step", "said", "differs"), TRACES)
def test_what_computes_under_each_choice(title: str, step: tuple[int, str], said: list[str], differs: bool) -> None:
    found = [[one[2:] for one in choice["trace"] if one[:2] == step] for choice in choices_of(title)]
    assert found == [[(words, differs)] for words in said]


def test_a_guard_that_ends_at_once_is_shown_with_the_effect_that_its_fix_gives_it() -> None:
    text = (
        "#include <torch/torch.h>\nat::Tensor forward(torch::nn::Linear& net, at::Tensor x) {\n"
        "  at::AutoNonVariableTypeMode(true);\n  auto y = net(x);\n  return y.add_(1);\n}\n"
    )
    choices = pasted_answer(text)["choices"]
    assert [one["line"] for one in choices[2:]] == [
        "c10::InferenceMode guard;",
        "at::AutoDispatchBelowADInplaceOrView guard;",
    ]
    as_it_is = "autograd on, version counted"
    assert [[said for row, what, said, _ in one["trace"] if (row, what) == (5, "add_")] for one in choices] == [
        [as_it_is],
        [as_it_is],
        ["autograd off, version counted"],
        ["autograd off, version not counted"],
    ]


def test_the_versions_of_torch_differ_in_a_write() -> None:
    before, since, _, kernel = choices_of("Nothing says")
    assert [event["message"] for event in before["events"]] == [
        "a tensor from outside is written where its counter doesn't move"
    ]
    assert before["events"] == kernel["events"]
    assert since["events"] == []


def test_a_header_that_comes_along_is_not_what_the_guard_becomes() -> None:
    text = (
        "#include <ATen/core/LegacyTypeDispatch.h>\n\nat::Tensor run(at::Tensor x) {\n"
        "  at::AutoNonVariableTypeMode guard(true);\n  return x.mul(2);\n}\n"
    )
    answer = pasted_answer(text)
    assert [one["line"] for one in answer["choices"]] == [
        "",
        "",
        "c10::InferenceMode guard;",
        "at::AutoDispatchBelowADInplaceOrView guard;",
    ]


@pytest.mark.parametrize("text", ["int main() { at::NoGradGuard guard; }\n", PREDICT], ids=["another guard", "Python"])
def test_where_nothing_is_to_choose(text: str) -> None:
    assert pasted_answer(text)["choices"] == []


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"{scope['root_path']} {scope['path']}")(scope, receive, send)


REQUESTS = [
    # (method, path, headers, status)
    pytest.param("GET", f"/{SECRET}/", {}, 200, id="the page"),
    pytest.param("GET", f"/{SECRET}/", {"host": "localhost:8390"}, 200, id="by its other name"),
    pytest.param("POST", f"/{SECRET}/check", {"origin": HERE, "sec-fetch-site": "same-origin"}, 200, id="from the page"),
    pytest.param("POST", f"/{SECRET}/check", {}, 200, id="from no page at all"),
    pytest.param("GET", f"/{SECRET}/", {"host": "evil.example:8390"}, 421, id="a name that points here (DNS rebinding)"),
    pytest.param("GET", f"/{SECRET}/", {"host": "127.0.0.1:80"}, 421, id="another port"),
    pytest.param("GET", f"/{SECRET}/", {"host": ""}, 421, id="no name"),
    pytest.param("GET", "/", {}, 404, id="without the secret"),
    pytest.param("GET", "/the-secre/", {}, 404, id="with half of it"),
    pytest.param("GET", f"/{SECRET}x/", {}, 404, id="with more than it"),
    pytest.param("GET", f"/x/{SECRET}/", {}, 404, id="with it elsewhere"),
    pytest.param("POST", f"/{SECRET}/check", {"origin": "http://evil.example"}, 403, id="from another page"),
    pytest.param("POST", f"/{SECRET}/check", {"origin": "null"}, 403, id="from a sandboxed page"),
    pytest.param("POST", f"/{SECRET}/check", {"origin": "http://127.0.0.1:8080"}, 403, id="from another server here"),
    pytest.param("POST", f"/{SECRET}/check", {"sec-fetch-site": "cross-site"}, 403, id="a form elsewhere"),
    pytest.param("GET", "/favicon.ico", {}, 204, id="a browser's own question"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "headers", "status"), REQUESTS)
def test_who_is_answered(method: str, path: str, headers: dict[str, str], status: int) -> None:
    client = TestClient(LocalRequests(echo, SECRET, 8390), base_url=HERE)
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert (SECRET in answer.text) == (status == 200)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    (folder / "src").mkdir()
    to_secret = f"{HERE}/{SECRET}/source/{folder}/src/.env#L1"
    (folder / "src" / "kernel.cpp").write_text(KERNEL.replace("\n", f"  // {to_secret}\n"))
    (folder / "src" / ".env").write_text("TOKEN=1")
    (folder / "src" / "key.cpp").write_text("// no finding\n")
    (folder / "secret.txt").write_text("not in the report")
    return folder


@pytest.fixture(scope="module")
def client(tree: Path) -> Iterator[TestClient]:
    link = f"{HERE}/{SECRET}/source/{{path}}#L{{line}}"
    live = LiveReport(
        ["--isolated", "--link", link, "--", str(tree / "src")], [str(tree / "src")], lambda change, path: True
    )
    with TestClient(playground_app(SECRET, 8390, live, 120.0), base_url=HERE) as found:
        yield found


WRONG = [
    pytest.param(b"not JSON", 400, id="not JSON"),
    pytest.param(b"[]", 400, id="no object"),
    pytest.param(b'{"text": 3}', 400, id="no text"),
    pytest.param(b'{"text": "", "language": "rust"}', 400, id="another language"),
    pytest.param(b'{"text": "\\ud800"}', 400, id="half a character"),
    pytest.param(b'{"text": "' + b"x" * (MOST_BYTES + 1) + b'"}', 413, id="more than the limit"),
    pytest.param(b"x" * (4 * MOST_BYTES + 1), 413, id="much more than the limit"),
]


@pytest.mark.parametrize(("body", "status"), WRONG)
def test_what_is_no_question(client: TestClient, body: bytes, status: int) -> None:
    answer = client.post(f"/{SECRET}/check", content=body)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_a_text_is_checked_in_its_own_process(client: TestClient) -> None:
    said: dict[str, Any] = client.post(f"/{SECRET}/check", json={"text": KERNEL + "// <script>x</script>\n"}).json()
    assert (said["error"], said["applied"], said["findings"][0]["context"]) == (None, 1, "kernel")
    assert "AutoDispatchBelowADInplaceOrView" in said["html"]
    assert "<script>" not in said["html"]
    page = client.post(f"/{SECRET}/", data={"text": "</textarea><b>torch.no_grad()", "language": "python"})
    assert page.status_code == 200, "without JavaScript, the form is sent"
    assert "</textarea><b>" not in page.text


SOURCES = [
    pytest.param("src/kernel.cpp", 200, id="a file of the report"),
    pytest.param("secret.txt", 404, id="a file beside it"),
    pytest.param("src/.env", 404, id="a file below the folder that is none of the report"),
    pytest.param("src/key.cpp", 404, id="a source without a finding"),
    pytest.param("src/kernel.cpp%00", 400, id="a name that no file has"),
    pytest.param("src/../secret.txt", 404, id="out of the folder"),
    pytest.param("src/%2e%2e/secret.txt", 404, id="out of the folder, written otherwise"),
    pytest.param("src/none.cpp", 404, id="no file"),
    pytest.param("src", 404, id="a folder"),
]


def test_a_question_that_nests_too_deep_is_none(client: TestClient) -> None:
    deep = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert client.post(f"/{SECRET}/check", content=deep).status_code == 400


@pytest.mark.parametrize(("name", "status"), SOURCES)
def test_only_files_of_the_report_are_shown(client: TestClient, tree: Path, name: str, status: int) -> None:
    assert client.get(f"/{SECRET}/source/{tree}/{name}").status_code == status


@pytest.mark.thorough
def test_the_report_follows_the_folder(client: TestClient, tree: Path) -> None:
    assert "evaluate.py" not in client.get(f"/{SECRET}/report").text
    (tree / "src" / "evaluate.py").write_text(PREDICT)
    for _ in range(200):
        if "evaluate.py" in client.get(f"/{SECRET}/report").text:
            break
    else:
        pytest.fail("the report stays as it was")


@pytest.mark.thorough
def test_limits_of_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(playground_app(SECRET, 8390, None, 0.001), base_url=HERE) as hasty:
        said = hasty.post(f"/{SECRET}/check", json={"text": KERNEL}).json()
    assert said["error"] == "checking this takes longer than 0.001 seconds, so it was stopped"
    monkeypatch.setenv("GUARDFIX_PLAYGROUND_MEMORY", "20")
    with TestClient(playground_app(SECRET, 8390, None, 60), base_url=HERE) as small:
        said = small.post(f"/{SECRET}/check", json={"text": KERNEL}).json()
    assert said["error"]


def test_without_a_folder_there_is_no_report() -> None:
    client = TestClient(playground_app(SECRET, 8390), base_url=HERE)
    assert [client.get(f"/{SECRET}/{name}").status_code for name in ("report", "changes", "source/x")] == [404] * 3


@pytest.mark.thorough
def test_a_report_that_fails_says_why() -> None:
    live = LiveReport(["--select", "no-such-rule", "--", "."], ["."], lambda change, path: True)
    import asyncio

    with pytest.raises(ReportFailed, match="no-such-rule"):
        asyncio.run(live.page())


def test_the_address_that_is_printed_can_be_opened_at_once() -> None:
    command = [sys.executable, "-m", "guardfix", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("The playground: http://127.0.0.1:")
            address = urlsplit(first.split()[-1])
            connection = HTTPConnection("127.0.0.1", address.port, timeout=60)
            connection.request("GET", address.path)
            assert connection.getresponse().status == 200
        finally:
            process.terminate()
