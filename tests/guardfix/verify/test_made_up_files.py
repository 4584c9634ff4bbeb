"""Files of data that a program reads and that are missing: what is made up, and what is not."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.runtime_shim.recording.run_specification import FOLDER_VARIABLE, made_up_in, preloaded_library
from guardfix.verify.runs.program_runs import ProgramRun, about_made_up_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is preloaded there")


@pytest.fixture(scope="module")
def library() -> Path:
    found = preloaded_library()
    assert found is not None
    return found


def python(library: Path, folder: Path, code: str) -> str:
    """What a Python program prints for which missing files are made up."""
    made, here = folder / "made_up", folder / "here"
    here.mkdir(exist_ok=True)
    given = os.environ | {"LD_PRELOAD": str(library)}
    code = f"import ctypes; ctypes.CDLL(None).guardfix_make_up_files({os.fsencode(made)!r}); {code}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=here, env=given, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def read(name: str) -> str:
    return f"import sys; sys.stdout.buffer.write(repr(open({name!r}, 'rb').read()).encode())"


def contents(library: Path, folder: Path, name: str) -> bytes:
    shown = python(library, folder, read(name))
    assert shown.startswith("b"), shown
    value = eval(shown)
    assert isinstance(value, bytes)
    return value


@pytest.mark.thorough
def test_cifar(library: Path, tmp_path: Path) -> None:
    data = contents(library, tmp_path, "../../data/data_batch_2.bin")
    assert len(data) == 10_000 * 3073
    assert set(data[::3073]) == set(range(10)), "the labels"


@pytest.mark.parametrize(
    ("name", "head", "rest"),
    [
        ("train-images-idx3-ubyte", (2051, 400, 28, 28), 400 * 784),
        ("t10k-labels-idx1-ubyte", (2049, 400), 400),
    ],
)
def test_mnist(library: Path, tmp_path: Path, name: str, head: tuple[int, ...], rest: int) -> None:
    data = contents(library, tmp_path, name)
    assert struct.unpack(f">{len(head)}I", data[: 4 * len(head)]) == head
    assert len(data) == 4 * len(head) + rest


def test_mnist_is_whole_for_pytorch(library: Path, tmp_path: Path) -> None:
    """Its loader takes sets of the real size alone."""
    given = os.environ | {"LD_PRELOAD": str(library), FOLDER_VARIABLE: str(tmp_path / "made_up")}
    for name, count in (("train-labels-idx1-ubyte", 60_000), ("t10k-labels-idx1-ubyte", 10_000)):
        counted = subprocess.run(
            ["wc", "-c", name], cwd=tmp_path, env=given, capture_output=True, text=True, check=True
        )
        assert counted.stdout.split() == [str(8 + count), name]


@pytest.mark.parametrize("name", ["a.jpg", "photos/b.PNG", r"D:\photos\c.jpeg"])
def test_images(library: Path, tmp_path: Path, name: str) -> None:
    data = contents(library, tmp_path, name)
    assert data[:2] == b"BM"
    assert struct.unpack("<i", data[2:6]) == (len(data),)
    assert struct.unpack("<ii", data[18:26]) == (64, 64)


def test_texts_and_tables(library: Path, tmp_path: Path) -> None:
    lines = contents(library, tmp_path, "corpus/train.txt").decode().splitlines()
    assert len(lines) == 1000
    assert {len(line.split()) for line in lines} == set(range(4, 13))
    assert 100 < len({word for line in lines for word in line.split()}) < 1000
    for name, between in (("iris.csv", ","), ("iris.tsv", "\t")):
        rows = contents(library, tmp_path, name).decode().splitlines()
        assert len(rows) == 200
        assert {len(row.split(between)) for row in rows} == {5}
        assert {row.rpartition(between)[2] for row in rows} == {"0", "1"}
        assert all(0 <= float(row.split(between)[0]) < 1 for row in rows)


LISTED = [
    ("os.listdir('no/train')", ["class_0", "class_1", *(f"image_{i}.jpg" for i in range(8))]),
    ("[e.name for e in os.scandir('no/train') if e.is_dir()]", ["class_0", "class_1"]),
    ("os.listdir('no/train') and os.listdir('no/train/class_1')", [f"image_{i}.jpg" for i in range(8)]),
    ("[os.path.exists('no/train')]", [False]),
]


@pytest.mark.parametrize(("code", "found"), LISTED)
def test_folders_of_images(library: Path, tmp_path: Path, code: str, found: list[Any]) -> None:
    assert python(library, tmp_path, f"import os; print(sorted({code}))") == str(found)


LEFT_ALONE = [
    ("open('settings.json')", "FileNotFoundError: [Errno 2] No such file or directory: 'settings.json'"),
    ("open('weights.pt')", "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'"),
    ("open('/etc/guardfix.txt')", "FileNotFoundError: [Errno 2] No such file or directory: '/etc/guardfix.txt'"),
    ("open('no/out.txt', 'w')", "FileNotFoundError: [Errno 2] No such file or directory: 'no/out.txt'"),
    ("print(open('own.txt').read())", "what it was"),
    ("print(open('new.txt', 'w').write('x'), open('new.txt').read())", "1 x"),
    ("import os; print(os.path.exists('settings.json'), os.path.exists('out'))", "False False"),
]


@pytest.mark.parametrize(("code", "shown"), LEFT_ALONE)
def test_what_is_left_alone(library: Path, tmp_path: Path, code: str, shown: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "own.txt").write_text("what it was")
    assert python(library, tmp_path, code) == shown
    assert made_up_in(tmp_path / "made_up") == ()


def test_what_is_listed_and_that_each_run_reads_the_same(library: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    once, again = (contents(library, tmp_path / name, "../../a.jpg") for name in ("one", "two"))
    assert once == again
    assert contents(library, tmp_path / "one", "b.jpg") != once
    assert made_up_in(tmp_path / "one" / "made_up") == (("an image", "../../a.jpg"), ("an image", "b.jpg"))


def test_the_words() -> None:
    def run(*made_up: tuple[str, str]) -> ProgramRun:
        return ProgramRun(0, "", "", [], made_up=made_up)

    assert about_made_up_files([run()]) == ""
    before = run(("CIFAR-10", "a/data_batch_1.bin"), ("CIFAR-10", "a/data_batch_2.bin"), ("a text", "words.txt"))
    assert (
        about_made_up_files([before, run(("CIFAR-10", "a/data_batch_1.bin"))])
        == "missing files were generated: CIFAR-10 (2 of them), a text (words.txt)"
    )


PROGRAM = """\
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <torch/script.h>
int main(int argc, char** argv) {
  auto model = torch::jit::load("../../../models/"
                                "net.pt");
  std::ifstream table("../../data/iris.csv");
  std::vector<float> values;
  for (std::string line, cell; std::getline(table, line);)
    for (std::stringstream cells(line); std::getline(cells, cell, ',');) values.push_back(std::stof(cell));
  auto rows = torch::tensor(values).view({-1, 5});
  int images = 0;
  for (auto& entry : std::filesystem::recursive_directory_iterator("/no/such/folder/train"))
    images += entry.is_regular_file();
  at::AutoNonVariableTypeMode guard(true);
  std::cout << model.forward({rows}).toTensor().sizes() << images << (opendir("photos") != nullptr) << std::endl;
}
"""


@pytest.mark.thorough
def test_a_program_that_reads_what_is_missing(tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(PROGRAM)
    done = CliRunner().invoke(command, [str(program), "--model", "auto", "--output-format", "json", "--isolated"])
    [entry] = json.loads(done.stdout)
    assert (done.exit_code, entry["verdict"]) == (0, "same"), entry
    assert entry["before"]["stdout"] == "[200, 5]241\n"
    assert entry["notes"] == [
        "its model was generated: forward(x0) gives a tensor",
        "missing files were generated: a table of numbers (../../data/iris.csv), a folder of images (2 of them)",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["program.cpp"]
