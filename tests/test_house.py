"""The house: one room for each thing, one name for each meaning, no file that says nothing of itself.

What may import what is a contract in pyproject.toml; `lint-imports` checks it, and a test here plants a violation.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix.runtime_shim.core.late_modules import ABOVE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGES = ("guardfix", "linter", "codemods", "runtime_shim")
LONGEST = 500
"""Lines of a file that needs no reason for its length."""

PYTORCH_NAMES = frozenset(
    {
        # Files and folders whose names are those of PyTorch's own modules.
        "functional.py",
        "init.py",
        "utils.py",
        "library.py",
    }
)


def sources(*packages: str) -> Iterator[Path]:
    for package in packages or PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            relative = path.relative_to(ROOT / package)
            linked = package == "guardfix" and relative.parts[0] in PACKAGES
            if not linked and "__pycache__" not in relative.parts:
                yield path


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_twin(paths: list[Path]) -> bool:
    """A rule and its fix have one name on purpose."""
    return {path.parent.name for path in paths} == {"rules", "fixes"} and len(paths) == 2


def test_every_file_name_is_understood_without_its_folder() -> None:
    by_name: dict[str, list[Path]] = defaultdict(list)
    for path in sources():
        if not path.name.startswith("__"):
            by_name[path.name].append(path)
    twice = [paths for name, paths in by_name.items() if len(paths) > 1 and name not in PYTORCH_NAMES]
    assert [list(map(shown, paths)) for paths in twice if not is_twin(paths)] == []


CONVENTIONS = frozenset({"RULE", "FIX", "FRONTEND", "FORMAT", "command", "T", "P", "R", "F", "TYPE_CHECKING"})
"""Names by which things are found where they stand, and type variables."""

ONE_MEANING = frozenset({"check"})
"""Names that the library at the root has from the linter: `guardfix.check` is its `check`, joined with the fixes."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def public_names(path: Path) -> Iterator[str]:
    """What a module defines at its top; overloads and branches of an `if` count once."""
    found: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if not any(ast.unparse(decorator).startswith(REGISTERS) for decorator in node.decorator_list):
                found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return (name for name in sorted(found) if not name.startswith("_") and name not in CONVENTIONS | ONE_MEANING)


STANDS_FOR_PYTORCH = (
    "__init__.py",
    "_library.py",
    "accelerator.py",
    "autograd/function.py",
    "autograd/graph.py",
    "backends/",
    "cuda.py",
    "distributed.py",
    "extension/inline_modules.py",
    "func.py",
    "jit/archive_loader.py",
    "jit/script_values.py",
    "library/__init__.py",
    "mps.py",
    "nn/functional.py",
    "nn/utils/parametrizations.py",
    "serialization.py",
    "testing/_internal/",
    "utils/data/",
    "version.py",
)
"""Where the shim's public names are those of PyTorch's modules, which give one name several meanings."""

REGISTERS = ("RULE.", "FIX.", "op(", "inner_op(", "composite(", "signal(")
"""Decorators that hand a function to a registry: nobody calls it by its name."""


def test_no_public_name_has_two_meanings() -> None:
    by_name: dict[str, list[Path]] = defaultdict(list)
    for path in sources("guardfix", "linter", "codemods"):
        for name in public_names(path):
            by_name[name].append(path)
    for path in sources("runtime_shim"):
        if not path.relative_to(ROOT / "runtime_shim").as_posix().startswith(STANDS_FOR_PYTORCH):
            for name in public_names(path):
                by_name[f"runtime_shim.{name}"].append(path)
    assert {name: list(map(shown, paths)) for name, paths in by_name.items() if len(paths) > 1} == {}


def test_a_long_file_says_why() -> None:
    long = []
    for path in (
        *sources(),
        *sorted((ROOT / "runtime_shim").rglob("*.h")),
        *sorted((ROOT / "runtime_shim").rglob("*.cpp")),
        *sources("tests", "bench"),
    ):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LONGEST and not re.search("Long because|hence over 500 lines", lines[0]):
            long.append(f"{shown(path)}: {len(lines)} lines")
    assert long == []


def test_no_docstring_says_a_paragraph_twice() -> None:
    twice = []
    for path in sources("runtime_shim"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                said = (ast.get_docstring(node) or "").split("\n\n")
                if len(said) > len(set(said)):
                    twice.append(f"{shown(path)}: {getattr(node, 'name', 'the module')}")
    assert twice == []


def sizes_of_the_shim() -> dict[str, tuple[int, int]]:
    """Files and lines of each folder with Python files, and of all headers."""
    by_folder: dict[str, list[Path]] = defaultdict(list)
    for path in sources("runtime_shim"):
        by_folder[shown(path.parent)].append(path)
    headers = ROOT / "runtime_shim" / "cpp" / "include"
    by_folder[shown(headers)] = [path for path in headers.rglob("*") if path.is_file()]
    return {
        folder: (len(paths), sum(len(path.read_bytes().splitlines()) for path in paths))
        for folder, paths in by_folder.items()
    }


def test_a_folder_of_the_shim_has_thirty_files_at_most() -> None:
    headers = shown(ROOT / "runtime_shim" / "cpp" / "include")
    assert {
        folder: files for folder, (files, _) in sizes_of_the_shim().items() if files > 30 and folder != headers
    } == {}


def test_the_shim_stays_within_its_budget() -> None:
    text = (Path(__file__).parent / "size_budget.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    budget = {folder: (int(files), int(lines)) for folder, files, lines in rows}
    found = sizes_of_the_shim()
    assert found.keys() == budget.keys()
    assert {folder: size for folder, size in found.items() if size[0] > budget[folder][0]} == {}, "files"
    assert {folder: size for folder, size in found.items() if size[1] > budget[folder][1]} == {}, "lines"


OUTSIDE_THE_RINGS = ("recording/", "cpp/", "extension/", "testing/")
"""What runs, compiles and compares programs."""

NOT_REACHED = {
    **dict.fromkeys(
        """
        __config__.py _jit_internal.py _utils.py fx.py hub.py mps.py multiprocessing.py nn/_reduction.py nn/attention.py
        overrides.py random.py utils/hooks.py jit/annotations.py
        """.split(),
        "a module of PyTorch's that programs import",
    ),
    **dict.fromkeys(
        """
        core/value_checks.py nn/utils/packed_sequences.py nn/utils/weight_normalization.py optim/lbfgs.py
        aten/spectral.py
        """.split(),
        "the everyday surface of torch: torch._check and finfo, packed sequences, weight_norm, L-BFGS, torch.fft",
    ),
    **dict.fromkeys(
        ["distributions/continuous_distributions.py", "distributions/distribution.py"],
        "what libraries of normalizing flows and policies are made of",
    ),
    "aten/matrices/lu_factors.py": "torch.linalg's factors that libraries of flows and of equations build on",
    "jit/script_printing.py": "archives print and format",
    "nn/cpp.py": "modules that extensions bind",
}
"""Files that none of the programs of bench/shim_reach.py reaches, and why they stay."""


def test_a_file_of_the_rings_is_reached_by_a_program() -> None:
    """A new one is written to reached_files.txt by bench/shim_reach.py --record."""
    shim = ROOT / "runtime_shim"
    reached = (Path(__file__).parent / "reached_files.txt").read_text(encoding="utf-8").split()
    files = {
        path.relative_to(shim).as_posix(): path
        for path in sources("runtime_shim")
        if not path.relative_to(shim).as_posix().startswith(OUTSIDE_THE_RINGS)
    }
    assert NOT_REACHED.keys() <= files.keys()
    assert [
        name
        for name, path in files.items()
        if name not in reached
        and name not in NOT_REACHED
        and any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree_of(path)))
    ] == []


NAMES_OPS = {
    "cpp/shim_backend.py": (17, "ops that C++ calls without a look at their arguments"),
    "dispatch/function_overrides.py": (35, "functions that ask classes with __torch_function__"),
    "function_namespaces.py": (26, "torch.special and torch.functional are lists of ops"),
    "jit/calls/call_costs.py": (106, "ops that cost more than the elements of their tensors, or less"),
    "jit/calls/call_registry.py": (132, "functions made of ops, whose arguments in archives are those of Python"),
    "jit/calls/network_calls.py": (26, "ops that are functions of nn.functional with other arguments"),
    "jit/calls/tensor_calls.py": (22, "ops whose arguments in archives are not those of Python"),
    "jit/calls/value_calls.py": (50, "ops of numbers, texts and lists, which have the names of tensors' ops"),
    "jit/traced_spellings.py": (71, "calls that a trace writes in another way than they are spelled"),
    "nn/functional.py": (27, "torch.nn.functional is a list of ops"),
}
"""Files beside an op's kernel that name many ops: how many at most, and why."""

FEW = 15
"""Ops that a file may name without a reason."""
REGISTERED = re.compile(r'\b(?:op|inner_op|composite|view_op|factory|unary|binary)\(\s*"(\w+)"')


def words_of(path: Path) -> set[str]:
    """The words of strings that are lists of names."""
    texts = (n.value for n in ast.walk(tree_of(path)) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return {word for text in texts if re.fullmatch(r"[\w\s]+", text) for word in text.split()}


def test_an_op_is_named_at_its_kernel_and_in_few_tables() -> None:
    """A table that only says again what the kernel or `torch_ops` says is derived from them instead."""
    aten = ROOT / "runtime_shim" / "aten"
    ops = {name for path in aten.rglob("*.py") for name in REGISTERED.findall(path.read_text(encoding="utf-8"))}
    assert len(ops) > 400
    named = {
        path.relative_to(ROOT / "runtime_shim").as_posix(): len(words_of(path) & ops)
        for path in sources("runtime_shim")
        if aten not in path.parents
    }
    assert {name: count for name, count in named.items() if count > NAMES_OPS.get(name, (FEW - 1, ""))[0]} == {}


def layers_of_the_shim() -> dict[str, int]:
    """The rank of each file and folder at the top of the shim in the contract, the lowest layer first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (c["layers"] for c in contracts if c.get("containers") == ["guardfix.runtime_shim"])
    return {name: rank for rank, row in enumerate(reversed(layers)) for name in row.split(" | ")}


def late_imports(path: Path) -> Iterator[tuple[str, ast.expr | None]]:
    """Each call that imports a module by name: the function's name, and its first argument."""
    if not re.search("import_module|late_module", path.read_text(encoding="utf-8")):
        return
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("import_module", "late_module"):
                yield name, node.args[0] if node.args else None


def test_what_is_imported_late_is_in_one_table() -> None:
    """No module of the shim is imported by its whole name elsewhere, and what is above has a reason in the table."""
    ranks, spelled_out, above = layers_of_the_shim(), [], set()
    for path in sources("runtime_shim"):
        own = path.relative_to(ROOT / "runtime_shim").with_suffix("")
        module = ".".join(own.parts).removesuffix(".__init__")
        for name, wanted in late_imports(path):
            text = "" if wanted is None else ast.unparse(wanted).strip("f'\"")
            if name == "import_module" and text.startswith("guardfix.runtime_shim"):
                spelled_out.append(f"{shown(path)}: {text}")
            if name == "late_module" and len(own.parts) > 1 and "late_modules" not in own.parts:
                first = text.partition(".")[0]
                if ranks.get(first, len(ranks)) > ranks[own.parts[0]] and first != own.parts[0]:
                    above.add(module)
    assert spelled_out == []
    assert above == ABOVE.keys()


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the packages, linked as in a checkout: a source distribution holds no links."""
    for package in PACKAGES:
        target = tmp_path / package
        shutil.copytree(ROOT / package, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "include"))
    for linked in PACKAGES[1:]:
        if not os.path.lexists(tmp_path / "guardfix" / linked):
            (tmp_path / "guardfix" / linked).symlink_to(f"../{linked}")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


PLANTED = [
    pytest.param("linter/facts/model.py", "from ..analysis import project", id="facts know no project"),
    pytest.param("linter/analysis/project.py", "from ..decision import signals", id="a project decides nothing"),
    pytest.param("linter/decision/weighing.py", "from ..rules import gf101_legacy_guard", id="decisions know no rule"),
    pytest.param("linter/engine.py", "import guardfix.codemods", id="the linter knows no fix"),
    pytest.param("codemods/edits/statements.py", "import guardfix.cli", id="codemods know no command line"),
    pytest.param("linter/guards.py", "import guardfix.runtime_shim", id="the linter needs no shim"),
    pytest.param("runtime_shim/__init__.py", "import guardfix.linter", id="the shim can be used alone"),
    pytest.param("runtime_shim/core/tensor.py", "from ..tape import nodes", id="a tensor knows no tape"),
    pytest.param("runtime_shim/version.py", "import guardfix.wording", id="nor does it need the front door's words"),
    pytest.param("runtime_shim/nn/parameter.py", "from . import module", id="no circle inside a room of the shim"),
    pytest.param("guardfix/torch_ops/op_table.py", "import guardfix.linter", id="the table of ops stands alone"),
    pytest.param("linter/facts/packing.py", "from . import model", id="no circle inside a room of the linter"),
    pytest.param("guardfix/extensions.py", "from . import configuration", id="no circle at the front door"),
    pytest.param("linter/annexe.py", "", id="a module that no contract places"),
]


def test_imports_go_one_way(tree: Path) -> None:
    outcome = lint_imports(tree)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(("file", "line"), PLANTED)
@pytest.mark.some(3)
def test_an_import_that_goes_the_other_way_is_found(tree: Path, file: str, line: str) -> None:
    with (tree / file).open("a", encoding="utf-8") as planted:
        planted.write(f"\n\n{line}\n")
    outcome = lint_imports(tree)
    assert outcome.returncode == 1, outcome.stdout
    assert "BROKEN" in outcome.stdout
