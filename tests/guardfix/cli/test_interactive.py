"""`guardfix migrate --interactive` at a pseudo-terminal: what is shown, what the keys do, what is written and when."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fixture_files import ROOT

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
termios = pytest.importorskip("termios")
_LOCAL_MODES = 3

OLD = "at::AutoNonVariableTypeMode"
TEXT = f"""#include <torch/torch.h>

at::Tensor first(at::Tensor a) {{
  {OLD} g(true);
  return helper(a);
}}

at::Tensor second(at::Tensor a) {{
  {OLD} g(true);
  kept = helper(a);
  return a;
}}

void reset() {{ kept.zero_(); }}
"""
INFERENCE, KERNEL = "c10::InferenceMode", "at::AutoDispatchBelowADInplaceOrView"
BELOW = "at::AutoDispatchBelowAutograd"
# The question begins a line: "? " alone is also in "? explains them", before the terminal waits for the next key.
QUESTION = "\n? "


class Session:
    """One run, and what it has shown so far."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        command = [sys.executable, "-m", "guardfix", "migrate", "--isolated", "-i", *arguments, "."]
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "90"}
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self.shown = ""

    def until(self, text: str, seconds: float = 60) -> str:
        """What was shown up to the text, since the last call."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            try:
                read = os.read(self.master, 4096) if ready else b""
            except OSError:  # the other side is closed
                read = b""
            assert read, f"{text!r} was not shown, but {self.shown!r}"
            self.shown += read.decode().replace("\r\n", "\n")
        before, _, self.shown = self.shown.partition(text)
        return before

    def press(self, key: str) -> None:
        """Press a key as soon as one is waited for: what is typed before is thrown away when the terminal goes raw."""
        end = time.monotonic() + 60
        while termios.tcgetattr(self.master)[_LOCAL_MODES] & termios.ICANON:
            assert time.monotonic() < end, f"no key is waited for behind {self.shown!r}"
            time.sleep(0.005)
        os.write(self.master, key.encode())

    def ended(self) -> int:
        """The exit status; the rest of what it writes is read first, as a terminal does."""
        while True:
            try:
                read = os.read(self.master, 4096)
            except OSError:
                break
            if not read:
                break
            self.shown += read.decode().replace("\r\n", "\n")
        os.close(self.master)
        return self.process.wait(60)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.cpp"
    path.write_text(TEXT)
    return path


def replaced(*guards: str) -> str:
    text = TEXT
    for guard in guards:
        text = text.replace(f"{OLD} g(true);", f"{guard} g;" if guard else "@", 1)
    return text.replace("@", f"{OLD} g(true);")


def test_the_page_shows_what_a_terminal_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "migrate.md").read_text(encoding="utf-8")
    functions = (
        f"at::Tensor {name}(at::Tensor a) {{\n  {OLD} g(true);\n  return helper(a);\n}}\n" for name in ("swap", "other")
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ops.cpp").write_text("\n".join(["#include <torch/torch.h>\n", *functions]))
    session = Session(tmp_path)
    shown = session.until("q  stop asking" + QUESTION)
    capture = page[page.index("[1/2]") :].partition("q  stop asking")[0]
    assert shown[shown.index("[1/2]") :] == capture
    session.press("q")
    assert session.ended() == 0


def test_a_use_is_shown_with_its_code_and_what_each_replacement_may_change(path: Path) -> None:
    session = Session(path.parent)
    shown = session.until(QUESTION)
    assert re.search(r"\[1/2\] \S*a\.cpp:4:3", shown)
    assert f"> 4 |   {OLD} g(true);" in shown
    assert "nothing nearby says what it is for" in shown
    session.press("s")
    shown = session.until("stop asking" + QUESTION)
    assert "[2/2]" in shown
    assert f"i  {INFERENCE}" in shown
    assert "but `kept` becomes an inference tensor" in shown
    session.press("q")
    assert session.ended() == 0
    assert "Nothing to change." in session.shown
    assert path.read_text() == TEXT


@pytest.mark.parametrize(
    ("keys", "last", "wanted", "status"),
    [
        pytest.param("ki", "y", replaced(KERNEL, INFERENCE), 0, id="each its own, one of them unsafe"),
        pytest.param("sb", "y", replaced("", BELOW), 0, id="skipped"),
        pytest.param("ab", "y", replaced(BELOW, BELOW), 0, id="all in this file"),
        pytest.param("kq", "y", replaced(KERNEL), 0, id="what was chosen before the end stays chosen"),
        pytest.param("xzk" + "s", "y", replaced(KERNEL), 0, id="other keys do nothing"),
        pytest.param("?k" + "s", "y", replaced(KERNEL), 0, id="help"),
        pytest.param("kubi", "y", replaced(BELOW, INFERENCE), 0, id="undone, and chosen again"),
        pytest.param("uki", "y", replaced(KERNEL, INFERENCE), 0, id="nothing to undo"),
        pytest.param("\r" + "i", "y", replaced("", INFERENCE), 0, id="Enter where nothing is likely: skipped"),
        pytest.param("ki", "n", TEXT, 1, id="not written in the end"),
        pytest.param("ki", "\x03", TEXT, 130, id="interrupted at the last question"),
        pytest.param("k\x03", "", TEXT, 130, id="interrupted before"),
    ],
)
@pytest.mark.few("each its own, one of them unsafe", "all in this file", "not written in the end", "interrupted before")
def test_keys(keys: str, last: str, wanted: str, status: int, path: Path) -> None:
    session = Session(path.parent)
    for key in keys:
        session.until("all in this file: " if keys.startswith("ab") and key == "b" else QUESTION)
        assert path.read_text() == TEXT, "something is written before the end"
        session.press(key)
    if last:
        session.until("show the [d]iff: ")
        assert path.read_text() == TEXT, "something is written before the end"
        session.press("d")
        assert "\n+" in session.until("show the [d]iff: ")
        session.press(last)
    assert session.ended() == status
    assert path.read_text() == wanted


def test_each_choice_shows_its_diff_and_the_likeliest_is_marked(path: Path) -> None:
    path.write_text(
        f"""#include <torch/torch.h>

at::Tensor detect(torch::jit::Module& model, at::Tensor image) {{
  {OLD} g(true);
  return model.forward({{image}}).toTensor();
}}
"""
    )
    session = Session(path.parent)
    shown = session.until(QUESTION)
    assert f"       -   {OLD} g(true);\n       +   {INFERENCE} g;\n" in shown
    assert f"i  {INFERENCE} (likeliest; Enter): " in shown
    session.press("\r")
    session.until("show the [d]iff: ")
    session.press("y")
    assert session.ended() == 0
    assert f"  {INFERENCE} g;\n" in path.read_text()


def test_help_explains_the_keys(path: Path) -> None:
    session = Session(path.parent)
    session.until("stop asking" + QUESTION)
    session.press("?")
    shown = session.until(QUESTION)
    assert "goes back to the use before" in shown
    session.press("q")
    assert session.ended() == 0


def test_without_a_terminal_it_says_what_to_do(path: Path) -> None:
    command = [sys.executable, "-m", "guardfix", "migrate", "-i", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert "--interactive needs a terminal" in done.stderr


def test_what_is_decided_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        f"#include <torch/torch.h>\nat::Tensor f(at::Tensor a) {{\n  {OLD} g;  // guardfix: kernel\n  return h(a);\n}}\n"
    )
    session = Session(tmp_path)
    session.until("Write 1 file? ")
    session.press("y")
    assert session.ended() == 0
    assert KERNEL in path.read_text()


def test_an_interrupted_run_goes_on_where_it_was(path: Path) -> None:
    session = Session(path.parent)
    for key in ("k", "\x03"):
        session.until(QUESTION)
        session.press(key)
    assert session.ended() == 130
    session = Session(path.parent)
    shown = session.until("stop asking" + QUESTION)
    assert shown.startswith("1 choice of the interrupted run taken up; u goes back\n")
    assert "[2/2]" in shown
    session.press("i")
    session.until("show the [d]iff: ")
    session.press("y")
    assert session.ended() == 0
    assert path.read_text() == replaced(KERNEL, INFERENCE)
    path.write_text(TEXT)
    session = Session(path.parent)
    assert "[1/2]" in session.until("stop asking" + QUESTION), "a run that was written counts as interrupted"
    session.press("q")
    assert session.ended() == 0


def test_choices_for_a_text_that_has_changed_since_are_asked_again(path: Path) -> None:
    session = Session(path.parent)
    for key in ("k", "\x03"):
        session.until(QUESTION)
        session.press(key)
    assert session.ended() == 130
    path.write_text("// another line\n" + TEXT)
    session = Session(path.parent)
    assert "[1/2]" in session.until("stop asking" + QUESTION)
    session.press("q")
    assert session.ended() == 0
