"""What a user installs: the wheel holds every package, and runs in a fresh environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from guardfix.package_version import VERSION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = {"guardfix": "guardfix", **{v: k for k, v in PYPROJECT["tool"]["setuptools"]["package-dir"].items()}}


def test_every_folder_with_code_is_a_listed_package() -> None:
    found = set()
    for folder, package in FOLDERS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found.add(".".join([package, *inner]))
    assert found == set(PYPROJECT["tool"]["setuptools"]["packages"])


def test_the_readme_has_the_commands_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(re.findall(r"^python3 -m venv .*$", readme, re.MULTILINE)) == 2
    assert re.search(r"^python3 -m venv .*-m pytest$", readme, re.MULTILINE)


def test_the_changelog_begins_with_the_version_that_is_next_or_out() -> None:
    top = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert top is not None
    version, _, state = top[1].partition(" ")
    assert version == VERSION
    assert re.fullmatch(r"\(unreleased\)|\(\d{4}-\d{2}-\d{2}\)", state)


def test_the_documentation_names_one_release() -> None:
    """The one that is out, or until there is one, the first."""
    pages = {path: path.read_text() for path in (ROOT / "README.md", ROOT / "docs/ci.md")}
    named = [tag for text in pages.values() for tag in re.findall(r"(?:rev: |guardfix@|guardfix\.git#)(\S+)", text)]
    released = re.findall(r"^## (\S+) \(\d", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert len(named) >= 4
    assert {*named} == {f"v{(released or [VERSION])[0]}"}


LINKED = {package.rpartition(".")[2]: folder for folder, package in FOLDERS.items() if folder != package}


@pytest.mark.skipif(sys.platform == "win32", reason="there git may write text files instead; see CONTRIBUTING.md")
@pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="a source distribution holds no links")
def test_each_mapped_folder_is_linked_where_its_name_says() -> None:
    """Relative links, so that editors, mypy and `python -m` find the packages in any clone."""
    links = {path.name: os.readlink(path) for path in (ROOT / "guardfix").iterdir() if path.is_symlink()}
    assert links == {name: f"../{folder}" for name, folder in LINKED.items()}


def _what_is_not_source(folder: str, names: list[str]) -> set[str]:
    """Hidden folders, environments and what builds leave behind."""
    left_out = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")(folder, names)
    return left_out | {name for name in names if (Path(folder, name) / "pyvenv.cfg").is_file()}


def _wheel_of(source: Path) -> Path:
    folder = source.parent
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("guardfix-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel_without_links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a checkout as git writes it on a system without links: a link is a text file."""
    source = tmp_path_factory.mktemp("wheel") / "source"
    shutil.copytree(ROOT, source, ignore=_what_is_not_source, symlinks=True)
    for name, folder in LINKED.items():
        (source / "guardfix" / name).unlink()
        (source / "guardfix" / name).write_text(f"../{folder}")
    return _wheel_of(source)


@pytest.mark.thorough
def test_a_source_distribution_is_the_same_wherever_it_is_built(tmp_path: Path) -> None:
    """For other times and rights of the files as well."""
    built = []
    for mask in (0o022, 0o077):
        source = tmp_path / f"{mask}" / "source"
        shutil.copytree(ROOT, source, ignore=_what_is_not_source, symlinks=True)
        os.utime(source / "README.md", (mask, mask))
        (source / "README.md").chmod(0o666 & ~mask)
        build = "from setuptools.build_meta import build_sdist; print(build_sdist('..'))"
        env = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run([sys.executable, "-c", build], cwd=source, env=env, check=True, capture_output=True, umask=mask)
        (archive,) = source.parent.glob("*.tar.gz")
        built.append(archive.read_bytes())
    assert built[0] == built[1]


@pytest.fixture(scope="module")
def installed(wheel_without_links: Path) -> Path:
    """A fresh environment with the wheel in it; the dependencies are the ones of this environment."""
    folder, wheel = wheel_without_links.parent, wheel_without_links
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(wheel)], check=True, stdout=subprocess.DEVNULL)
    site = next((environment / "lib").glob("python*/site-packages"))
    dependencies = Path(pytest.__file__).parent.parent
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    return environment


@pytest.mark.thorough
def test_the_wheel_checks_and_migrates_in_a_fresh_environment(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text((ROOT / "fixtures/cpp/inference_load_and_run.cpp").read_text())
    guardfix = str(installed / "bin" / "guardfix")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    check = subprocess.run([guardfix, "check", "."], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (check.returncode, "GF101" in check.stdout) == (1, True), check.stderr
    assert str(installed) in subprocess.run(
        [str(installed / "bin/python"), "-c", "import guardfix.linter; print(guardfix.linter.__file__)"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    subprocess.run([guardfix, "migrate", "--apply", "."], cwd=tmp_path, env=env, capture_output=True, check=True)
    migrated = (ROOT / "fixtures/cpp/inference_load_and_run.migrated.cpp").read_text()
    assert (tmp_path / "a.cpp").read_text() == migrated


@pytest.mark.thorough
def test_a_clone_runs_its_own_parts_whatever_is_installed(installed: Path) -> None:
    # `python -m` puts the working folder first: the clone's guardfix, which stands apart from its linter.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(installed / "bin/python"), "-m", "guardfix", "check", "fixtures/cpp/inference_load_and_run.cpp"]
    check = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (check.returncode, "GF101" in check.stdout) == (1, True), check.stderr


@pytest.mark.thorough
def test_no_top_level_name_but_guardfix_is_installed(installed: Path) -> None:
    site = next((installed / "lib").glob("python*/site-packages"))
    names = {p.name for p in site.iterdir() if not p.name.endswith((".dist-info", ".pth"))}
    assert names == {"guardfix"}


@pytest.mark.thorough
def test_a_checkout_with_links_gives_the_same_wheel(wheel_without_links: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=_what_is_not_source, symlinks=True)
    with zipfile.ZipFile(_wheel_of(source)) as one, zipfile.ZipFile(wheel_without_links) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert "guardfix/linter/engine.py" in one.namelist()


@pytest.mark.thorough
def test_the_sdist_passes_its_own_tests(tmp_path: Path) -> None:
    """What a packager of a distribution does: build it, unpack it elsewhere, install it, run tests there.

    These are the smoke test, and the tests of packaging, CI's recipes, the layout of the code, and output formats.
    """
    subprocess.run([sys.executable, "-m", "build", "--sdist", "--outdir", str(tmp_path), str(ROOT)], check=True)
    (archive,) = tmp_path.glob("guardfix-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--editable", f"{source}[dev]"], check=True)
    pytest_here = [python, "-m", "pytest", "-q", "-n0"]
    subprocess.run([*pytest_here, "-m", "smoke"], cwd=source, check=True)
    others = ["test_packaging.py", "test_ci_recipes.py", "test_house.py", "guardfix/output"]
    subprocess.run([*pytest_here, *(f"tests/{name}" for name in others)], cwd=source, check=True)
