"""Which include folders and libraries of the system a program's headers bring."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from guardfix.verify.programs import pkg_config as module
from guardfix.verify.programs.pkg_config import third_parties

PACKAGES = {
    # one folder for a package and its parts: that with the shortest name has the others' libraries, too
    "nets": "prefix={root}\nName: nets\nDescription: d\nVersion: 1\nCflags: -I${{prefix}}/nets\nLibs: -lnets\n",
    "nets-extra": "prefix={root}\nName: nets-extra\nDescription: d\nVersion: 1\nCflags: -I${{prefix}}/nets\nLibs: -lextra\n",
    "images": "Name: images\nDescription: d\nVersion: 1\nCflags: -DIMAGES -I{root}/images -pthread\nLibs: -L{root} -limages\n",
    "one": "Name: one\nDescription: d\nVersion: 1\nCflags: -I{root}/one\nLibs: -lone\n",
    "two": "Name: two\nDescription: d\nVersion: 1\nCflags: -I{root}/two\nLibs: -ltwo\n",
    "broken": "Cflags: -I{root}/broken\n",
}
HEADERS = ("nets/net.h", "images/images/core.hpp", "one/common.h", "two/common.h", "broken/broken.h")

pytestmark = pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    described = tmp_path / "described"
    described.mkdir()
    for name, text in PACKAGES.items():
        (described / f"{name}.pc").write_text(text.format(root=tmp_path))
    for header in HEADERS:
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).touch()
    monkeypatch.setenv("PKG_CONFIG_PATH", str(described))
    module._package_folders.cache_clear()
    yield tmp_path
    module._package_folders.cache_clear()


@pytest.mark.parametrize(
    ("headers", "folders", "libraries"),
    [
        (["net.h"], ["nets"], ["nets"]),
        (["images/core.hpp"], ["images"], ["images"]),
        (["net.h", "images/core.hpp", "net.h"], ["nets", "images"], ["nets", "images"]),
        pytest.param(["common.h"], [], [], id="two packages have one"),
        pytest.param(["broken.h"], [], [], id="a description without a name"),
        pytest.param(["nowhere.h"], [], [], id="nobody's header"),
        pytest.param(
            ["vector", "torch/torch.h", "ATen/ATen.h", "sys/types.h"], [], [], id="the language's and PyTorch's"
        ),
        pytest.param(["omp.h"], [], ["gomp"], id="OpenMP"),
        pytest.param(["boost/no_such_part.hpp"], [], [], id="a part of Boost without a library"),
    ],
)
def test_what_headers_bring(system: Path, headers: list[str], folders: list[str], libraries: list[str]) -> None:
    include, link = third_parties(headers)
    assert [folder.relative_to(system).as_posix() for folder in include] == folders
    assert list(link) == libraries


def test_boost_is_called_after_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_library", {"boost_program_options": "libboost_program_options.so.1"}.get)
    assert third_parties(["boost/program_options.hpp", "boost/optional.hpp"]) == ((), ("boost_program_options",))


def test_without_pkg_config_nothing_is_found(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(system))
    assert third_parties(["net.h"]) == ((), ())
