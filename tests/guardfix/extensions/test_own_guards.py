"""Guards of a project's own, by configuration: they are checked as what they are like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.main import cli

GUARDS = '[[guards]]\nname = "my::NoGrad"\nlike = "torch::NoGradGuard"\n\n[[guards]]\nname = "Fast"\nlike = "c10::InferenceMode"\n'


def found(tmp_path: Path, text: str, configuration: str = GUARDS) -> list[str]:
    (tmp_path / ".git").mkdir(exist_ok=True)
    (tmp_path / "guardfix.toml").write_text(configuration)
    (tmp_path / "a.cpp").write_text(text)
    done = CliRunner().invoke(cli, ["check", "--output-format", "json", str(tmp_path)], catch_exceptions=False)
    return [f"{told['code']}:{told['location']['row']}" for told in json.loads(done.stdout)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("void f() {\n  my::NoGrad();\n  g();\n}\n", ["GF201:2"], id="a temporary"),
        pytest.param("void f() {\n  ::my::NoGrad();\n  g();\n}\n", ["GF201:2"], id="from the top"),
        pytest.param("using namespace my;\nvoid f() {\n  NoGrad();\n  g();\n}\n", ["GF201:3"], id="its namespace opened"),
        pytest.param("using my::NoGrad;\nvoid f() {\n  NoGrad();\n  g();\n}\n", ["GF201:3"], id="the name taken"),
        pytest.param("namespace my {\nvoid f() {\n  NoGrad();\n  g();\n}\n}\n", ["GF201:3"], id="inside its namespace"),
        pytest.param("namespace m = my;\nvoid f() {\n  m::NoGrad();\n  g();\n}\n", ["GF201:3"], id="an alias of it"),
        pytest.param("void f() {\n  c10::InferenceMode m;\n  my::NoGrad n;\n  g();\n}\n", ["GF303:3"], id="a rule about what it is like"),
        pytest.param("void f() {\n  Fast m;\n  torch::NoGradGuard n;\n  g();\n}\n", ["GF303:3"], id="as a surrounding guard"),
        pytest.param(
            "namespace my {\nstruct NoGrad { NoGrad(); at::NoGradGuard guard; };\n}\nvoid f() {\n  my::NoGrad n;\n  g();\n}\n",
            [], id="its own definition is not a use of it",
        ),
        pytest.param("void f() {\n  my::NoGrad n;\n  g();\n}\n", [], id="used well"),
        pytest.param("void f() {\n  other::NoGrad();\n  g();\n}\n", [], id="another namespace's"),
        pytest.param("void f() {\n  NoGrad();\n  g();\n}\n", [], id="a name that nothing leads to"),
        pytest.param("void f() {\n  my::NoGradient();\n  g();\n}\n", [], id="a longer name"),
    ],
)  # fmt: skip
def test_what_is_found(text: str, expected: list[str], tmp_path: Path) -> None:
    text = "#include <torch/torch.h>\n" + text
    shifted = [f"{code}:{int(row) + 1}" for code, row in (one.split(":") for one in expected)]
    assert found(tmp_path, text) == shifted


def test_without_the_configuration_it_is_any_class(tmp_path: Path) -> None:
    assert found(tmp_path, "void f() {\n  my::NoGrad();\n  g();\n}\n", "") == []


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        pytest.param('guards = [{ name = "my::G", like = "torch::NoGrad" }]', "`torch::NoGrad` is not a guard of PyTorch's", id="like nothing"),
        pytest.param('guards = [{ name = "my G", like = "torch::NoGradGuard" }]', "`my G` can't be the name", id="no name"),
        pytest.param('guards = [{ name = "my::InferenceMode", like = "torch::NoGradGuard" }]', "is the name of a guard of PyTorch's", id="PyTorch's own"),
    ],
)  # fmt: skip
def test_mistakes(configuration: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "guardfix.toml").write_text(configuration)
    done = CliRunner().invoke(cli, ["check", "--config", str(tmp_path / "guardfix.toml"), str(tmp_path)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "guardfix.toml: `guards`: " in done.stderr
    assert message in done.stderr
