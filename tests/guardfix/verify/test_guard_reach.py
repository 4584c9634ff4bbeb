# Long because each way to a guard has its program.
"""A verdict is about guards: what no run entered is not verified, whatever the programs print."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.linter.facts import GuardUse
from guardfix.linter.files.sources import decode
from guardfix.runtime_shim.recording.guard_table import BUILTIN, GuardCount, within_reach
from guardfix.runtime_shim.recording.run_specification import Specification
from guardfix.verify.judging.counted_guards import CountedText, is_entered
from guardfix.verify.runs.program_runs import Limits, Process, environment
from guardfix.verify.runs.synthetic_models import ModelCall, ModelPlace, called_methods, model_places, scores_for

HEAD = "#include <torch/script.h>\n#include <iostream>\n"

USAGE = (
    HEAD
    + """\
int main(int argc, const char** argv) {
  if (argc != 2) {
    std::cerr << "usage: program <numbers>\\n";
    return -1;
  }
  at::AutoNonVariableTypeMode guard(true);
  auto model_input = torch::ones({std::stoi(argv[1])});
  std::cout << model_input.sum().item<float>() << std::endl;
}
"""
)

ABORTING = (
    HEAD
    + """\
int main(int argc, const char** argv) {
  torch::jit::Module model = torch::jit::load(argc > 1 ? argv[1] : "no such file");
  at::AutoNonVariableTypeMode guard(true);
  std::cout << model.forward({torch::ones({2})}).toTensor() << std::endl;
}
"""
)

TWO_GUARDS = (
    HEAD
    + """\
torch::Tensor predict(torch::jit::Module& model, const torch::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  return model.forward({x}).toTensor();
}
int main() {
  at::AutoNonVariableTypeMode guard(true);
  auto model_input = torch::ones({2});
  std::cout << model_input.sum().item<float>() << std::endl;
}
"""
)

ARGPARSE = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("size", type=int)
arguments = parser.parse_args()
with torch.inference_mode(), torch.no_grad():
    print(torch.ones(arguments.size).sum())
"""


def verified(*arguments: str | Path) -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(command, [*map(str, arguments), "--output-format", "json", "--isolated"])
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


def summary(*arguments: str | Path) -> str:
    """The last line of the text report."""
    return CliRunner().invoke(command, [*map(str, arguments), "--isolated"]).stderr.splitlines()[-1]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("usage.cpp", USAGE, "exit status 255, after printing 'usage: program <numbers>'"),
        ("aborting.cpp", ABORTING, "SIGABRT"),
        ("arguments.py", ARGPARSE, "exit status 2, after printing 'usage:"),
    ],
    ids=["prints its usage", "aborts in load", "argparse error"],
)
@pytest.mark.few("argparse error")
def test_an_early_end_is_not_the_same(tmp_path: Path, name: str, text: str, words: str) -> None:
    program = write(tmp_path, name, text)
    status, [entry] = verified(program)
    assert (status, entry["verdict"]) == (1, "not reached"), entry
    assert "ended before it came to a step of torch" in entry["reason"]
    assert words in entry["reason"]
    assert "--argument" in entry["advice"]
    assert [guard["entered"]["before"] for guard in entry["guards"]] == [0]


LOADING = """\
import sys
import torch

{0}
with torch.inference_mode(), torch.no_grad():
    {1}
{2}
"""
NO_ARCHIVE = 'print(torch.jit.load("no such file")(torch.ones(2)))'


@pytest.mark.parametrize(
    ("before", "below", "behind", "reason"),
    [
        ("", NO_ARCHIVE, "", "the program ended before it came to a step of torch: exit status 1"),
        ("x = torch.ones(2)", NO_ARCHIVE, "", "ended (exit status 1) before an op ran below its guard"),
        ("x = torch.ones(2)", "print(x.shape); sys.exit(3)", "", "ended (exit status 3) before an op ran below"),
        ("x = torch.ones(2)", "print(x.shape)", "", ""),
        ("x = torch.ones(2)", "print(x.sum())", "sys.exit(3)", "it fails before and after: exit status 3, after print"),
        (
            "x = torch.ones(2)",
            "print(x.sum())",
            "x[7]",
            "it fails before and after: exit status 1, IndexError: index 7",
        ),
        ("import no_such_package", "pass", "", "no_such_package isn't installed"),
        ("", "print(torch.is_inference_mode_enabled())", "", ""),
    ],
    ids=[
        "load is first",
        "load below",
        "exit below",
        "nothing to do below",
        "exit after an op",
        "error after an op",
        "no package",
        "no op at all",
    ],
)
@pytest.mark.few("load is first", "no package")
def test_a_guard_in_which_the_program_fails_at_once_shows_nothing(
    tmp_path: Path, before: str, below: str, behind: str, reason: str
) -> None:
    program = write(tmp_path, "loading.py", LOADING.format(before, below, behind))
    status, [entry] = verified(program)
    not_run = any(words in reason for words in ("it fails", "installed"))
    assert [guard["entered"]["before"] > 0 for guard in entry["guards"]] == ["installed" not in reason]
    verdict = "same" if not reason else "not run" if not_run else "not reached"
    assert (status, entry["verdict"]) == (1 if reason else 0, verdict), entry
    assert reason in entry["reason"]
    if reason:
        assert summary(program).startswith(f"0 of 1 migrated guards verified; 1 {verdict}")


CAUGHT = (
    HEAD
    + """\
int main(int argc, const char** argv) {
  at::AutoNonVariableTypeMode guard(true);
  torch::jit::Module model;
  try {
    model = torch::jit::load("no such file");
  } catch (const c10::Error&) {
    std::cerr << "no model there\\n";
    return -1;
  }
  std::cout << model.forward({torch::ones({2})}).toTensor() << std::endl;
}
"""
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CAUGHT.replace("try {", "{").replace(" catch (const c10::Error&)", "\n  if (argc > 5)"), "SIGABRT"),
        (CAUGHT, "exit status 255, after printing 'no model there'"),
    ],
    ids=["uncaught", "caught"],
)
def test_a_missing_model_shows_nothing_about_the_guard_above_its_load(tmp_path: Path, text: str, words: str) -> None:
    """The same in C++, and the old guard's warning isn't why the program ends."""
    status, [entry] = verified(write(tmp_path, "loading.cpp", text))
    assert (status, entry["verdict"]) == (1, "not reached"), entry
    assert words in entry["reason"]
    assert [(guard["entered"]["before"], guard["ops"]["before"]) for guard in entry["guards"]] == [(1, 0)]


@pytest.mark.thorough
def test_arguments_lead_to_the_guard(tmp_path: Path) -> None:
    program = write(tmp_path, "usage.cpp", USAGE)
    status, [entry] = verified(program, "--argument", "3")
    assert (status, entry["verdict"]) == (0, "same"), entry
    [guard] = entry["guards"]
    assert (guard["entered"], guard["migrated"]) == ({"before": 1, "after": 1}, True)
    assert guard["ops"]["before"] == guard["ops"]["after"] == 3  # ones, sum, item
    assert summary(program, "--argument", "3") == "1 of 1 migrated guards verified: 1 same."


@pytest.mark.thorough
def test_a_guard_that_is_not_entered_counts(tmp_path: Path) -> None:
    program = write(tmp_path, "two.cpp", TWO_GUARDS)
    status, [entry] = verified(program)
    assert (status, entry["verdict"]) == (1, "same")
    assert [guard["entered"]["before"] for guard in entry["guards"]] == [0, 1]
    assert verified(program, "--allow-not-reached")[0] == 0
    assert summary(program) == f"1 of 2 migrated guards verified: 1 same; 1 not reached ({program}:4)."


@pytest.mark.thorough
def test_the_report_tells_how_each_guard_was_reached(tmp_path: Path) -> None:
    program = write(tmp_path, "two.cpp", TWO_GUARDS)
    shown = CliRunner().invoke(command, [str(program), "--isolated", "--verbose"]).stdout
    assert f"= note: AutoNonVariableTypeMode at {program}:4: not entered.\n" in shown
    assert f"= note: AutoNonVariableTypeMode at {program}:8: entered once, 3 ops below it.\n" in shown


@pytest.mark.thorough
def test_a_file_that_no_program_compiles_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "main.cpp", TWO_GUARDS.replace("predict", "unused").replace("unused(torch", "used(torch"))
    library = write(tmp_path, "library.cpp", TWO_GUARDS[: TWO_GUARDS.index("int main")])
    status, entries = verified(tmp_path, "--allow-unsupported")
    assert status == 1
    [entry] = [entry for entry in entries if entry["kind"] == "file"]
    assert (entry["filename"], entry["verdict"]) == (str(library), "not reached")
    assert "no program compiles this file" in entry["reason"]
    assert summary(tmp_path).endswith(f"; 2 not reached ({library}:4, {tmp_path / 'main.cpp'}:4).")


@pytest.mark.thorough
def test_another_program_may_enter_a_guard(tmp_path: Path) -> None:
    """A header's guard that one of two programs enters is verified, and the other one is not a failure."""
    header = """\
#pragma once
#include <torch/script.h>
inline torch::Tensor predict(torch::jit::Module& model, const torch::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  const auto doubled = x + x;
  return model.forward({doubled}).toTensor();
}
"""
    write(tmp_path, "predict.h", header)
    main = (
        '#include "predict.h"\n#include <iostream>\nint main(int argc, char** argv) {\n  auto x = torch::ones({2, 4});\n'
        "  torch::jit::Module model;\n  try { EXPRESSION } catch (const std::exception&) { }\n"
        "  std::cout << x << std::endl;\n}\n"
    )
    write(tmp_path, "entering.cpp", main.replace("EXPRESSION", "predict(model, x);"))
    write(tmp_path, "other.cpp", main.replace("EXPRESSION", ""))
    write(tmp_path, "without.cpp", "#include <torch/torch.h>\nint main() { torch::ones({2}); }\n")
    status, entries = verified(tmp_path)
    assert status == 0, entries
    assert {Path(entry["filename"]).name: entry["verdict"] for entry in entries} == {
        "entering.cpp": "same",
        "other.cpp": "not reached",
        "without.cpp": "nothing to verify",
    }


FORMS = {
    "declaration": ("at::AutoNonVariableTypeMode guard(true); WORK", 1, 1),
    "loop": ("for (int i = 0; i < 3; ++i) { at::AutoNonVariableTypeMode guard(true); WORK }", 3, 3),
    "temporary": ("at::AutoNonVariableTypeMode(true); WORK", 1, 1),
    "optional": ("std::optional<at::AutoNonVariableTypeMode> guard; guard.emplace(true); WORK", 1, 1),
    "empty_optional": ("std::optional<at::AutoNonVariableTypeMode> guard; if (off) guard.emplace(true); WORK", 0, 0),
    "unique_pointer": ("auto guard = std::make_unique<at::AutoNonVariableTypeMode>(true); WORK", 1, 1),
    "if_without_braces": ("if (off)\n    at::AutoNonVariableTypeMode(true);\n  WORK", 0, 0),
    "else_without_braces": ("if (off) { } else\n    at::AutoNonVariableTypeMode(true);\n  WORK", 1, 0),
    "member": ("struct Guards { at::AutoNonVariableTypeMode guard{true}; }; Guards guards; WORK", 1, 1),
    "base": ("struct Guards : at::AutoNonVariableTypeMode { int more = 0; }; Guards guards; WORK", 1, 1),
    "alias": ("using Guard = at::AutoNonVariableTypeMode; Guard guard; WORK", 1, 1),
    "lambda": ("auto run = [&] { at::AutoNonVariableTypeMode guard(true); WORK }; run(); run();", 2, 2),
    "two_declarators": ("at::AutoNonVariableTypeMode one(true), two(true); WORK", 1, 1),
    "nested": ("at::AutoNonVariableTypeMode guard(true); WORK { at::NoGradGuard inner; WORK }", 1, 2),
    "exception": ("try { at::AutoNonVariableTypeMode guard(true); WORK throw 1; } catch (int) { } WORK", 1, 1),
    "never_called": ("at::AutoNonVariableTypeMode guard(true); WORK", 0, 0),
}
"""Form -> (body of a function, times its first guard is entered, ops below it)."""


def run_counted(folder: Path, name: str, text: str, guards: int) -> list[GuardCount]:
    """Runs a text with counters, and reads its table."""
    program = write(folder, name, text)
    specification = Specification(source=str(program), shown=name, recording="")
    process = Process(specification, folder / "run", folder, Limits(), environment(), guards=guards)
    run = process.finish()
    assert run.status == 0, (run.errors, run.events[-1:])
    return run.counts


def test_each_form_of_a_guard_is_counted(tmp_path: Path) -> None:
    """The counted text compiles, keeps its lines, and counts what each guard does."""
    functions = [f"void {name}(bool off) {{\n  (void)off;\n  {body}\n}}\n" for name, (body, _, _) in FORMS.items()]
    calls = [f"  {name}(argc > 1);\n" for name in FORMS if name != "never_called"]
    text = (
        "#include <torch/torch.h>\n#include <memory>\n#include <optional>\n"
        "#define NO_AUTOGRAD at::AutoNonVariableTypeMode guard(true);\n"
        f"{''.join(functions)}void macro() {{\n  NO_AUTOGRAD WORK\n}}\n"
        f"int main(int argc, char**) {{\n{''.join(calls)}  macro();\n}}\n"
    ).replace("WORK", "torch::ones({2});")
    source = CountedText(decode(text.encode(), "program.cpp"))
    assert source.facts is not None
    uses: dict[str, GuardUse] = {}
    for use in source.facts.guard_uses:
        around = source.facts.enclosing(use.function)
        if is_entered(use) and (around or use.macro) and use.alias is None:
            uses.setdefault(around[-1].name if around else "macro", use)
    assert set(uses) == {*FORMS, "macro"}
    numbers = dict(enumerate(uses, 1))
    counted, done = source.with_counters({number: uses[name] for number, name in numbers.items()})
    assert done == set(numbers)
    own = counted.decode().partition("#line 1\n")[2]
    assert own.count("\n") == text.count("\n")
    counts = run_counted(tmp_path, "program.cpp", counted.decode(), len(numbers))
    expected = {name: (entered, ops) for name, (_, entered, ops) in FORMS.items()} | {"macro": (1, 1)}
    assert {name: tuple(counts[number]) for number, name in numbers.items()} == expected
    assert counts[0].ops == text.count("torch::ones") + 2 + 1 - 1  # the loop's, the lambda's, what is never called


PYTHON_FORMS = {
    "with_item": ("with torch.no_grad():\n        torch.ones(2).add(1)", 1, 2),
    "second_item": ("with torch.enable_grad(), torch.no_grad():\n        torch.ones(2)", 1, 1),
    "variable": (
        "guard = torch.no_grad()\n    with guard:\n        torch.ones(2)\n    with guard:\n        torch.ones(2)",
        2,
        2,
    ),
    "function": ("@torch.no_grad()\n    def f():\n        torch.ones(2)\n    f()\n    f()", 2, 2),
    "uncalled": ("@torch.no_grad\n    def f():\n        torch.ones(2)\n    f()", 1, 1),
    "generator": (
        "@torch.no_grad()\n    def f():\n        yield torch.ones(2)\n        yield torch.ones(2)\n    list(f())",
        1,
        2,
    ),
    "lasting": ("torch.set_grad_enabled(False)\n    torch.ones(2)\n    torch.set_grad_enabled(True)", 1, 1),
    "never_called": ("with torch.no_grad():\n        torch.ones(2)", 0, 0),
}


def test_each_form_of_a_python_guard_is_counted(tmp_path: Path) -> None:
    bodies = "".join(f"def {name}():\n    {body}\n\n\n" for name, (body, _, _) in PYTHON_FORMS.items())
    text = f"import torch\n\n\n{bodies}" + "".join(f"{name}()\n" for name in PYTHON_FORMS if name != "never_called")
    source = CountedText(decode(text.encode(), "program.py"))
    assert source.facts is not None
    uses: dict[str, GuardUse] = {}
    for use in source.facts.guard_uses:
        around = source.facts.enclosing(use.function)
        if is_entered(use) and around:
            name = around[-1].name
            if name != "second_item" or use.guard == "no_grad":
                uses.setdefault(name, use)
    numbers = dict(enumerate(PYTHON_FORMS, 1))
    counted, done = source.with_counters({number: uses[name] for number, name in numbers.items()})
    assert done == set(numbers)
    assert counted.decode().count("\n") == text.count("\n")
    counts = run_counted(tmp_path, "program.py", counted.decode(), len(numbers))
    assert {name: tuple(counts[number]) for number, name in numbers.items()} == {
        name: (entered, ops) for name, (_, entered, ops) in PYTHON_FORMS.items()
    }


MODEL_PROGRAM = (
    HEAD
    + """\
int main(int argc, const char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: program <model>\\n";
    return -1;
  }
  torch::jit::script::Module module = torch::jit::load(argv[1]);
  at::AutoNonVariableTypeMode guard(true);
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(torch::ones({1, 3, 8, 8}));
  const auto pair = module.forward(inputs).toTuple();
  const auto encoded = module.run_method("encode", torch::ones({2}), torch::ones({2})).toTensor();
  std::cout << pair->elements()[1].toTensor().argmax(1) << encoded << std::endl;
}
"""
)


@pytest.mark.thorough
def test_a_model_is_made_up(tmp_path: Path) -> None:
    program = write(tmp_path, "program.cpp", MODEL_PROGRAM)
    status, [entry] = verified(program, "--model", "auto")
    assert (status, entry["verdict"]) == (0, "same"), entry
    assert entry["notes"] == [
        "its model was generated: forward(x0) gives a tuple of 2 tensors; encode(x0, x1) gives a tensor"
    ]
    assert "999" in entry["before"]["stdout"]
    assert [guard["entered"]["before"] for guard in entry["guards"]] == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["program.cpp"]


MNIST_PROGRAM = """\
#include <iostream>
#include <torch/torch.h>
int main() {
  auto set = torch::data::datasets::MNIST("../../no/such/folder").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(set), 100);
  at::AutoNonVariableTypeMode guard(true);
  for (auto& batch : *loader) std::cout << batch.data.mean(0).sizes() << batch.target.sizes() << std::endl;
}
"""


@pytest.mark.thorough
def test_data_is_made_up(tmp_path: Path) -> None:
    program = write(tmp_path, "program.cpp", MNIST_PROGRAM)
    status, [entry] = verified(program, "--model", "auto")
    assert (status, entry["verdict"]) == (0, "same"), entry
    assert entry["notes"] == ["missing files were generated: the MNIST set (2 of them)"]
    assert entry["before"]["stdout"] == "[1, 28, 28][100]\n" * 4
    status, [entry] = verified(program)
    assert (status, entry["verdict"]) == (1, "not reached"), "without being asked nothing is made up"
    assert "Error opening images file" in entry["before"]["stderr"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("torch::jit::load(argv[2])", ModelPlace(argument=2)),
        ('torch::jit::load("data/model.pt", torch::kCPU)', ModelPlace(file="data/model.pt")),
        ('std::string path = "net.pt";\nauto m = torch::jit::load(path);', ModelPlace(file="net.pt")),
        ("const std::string path(argv[1]);\ntorch::jit::load(path)", ModelPlace(argument=1)),
        ("torch::jit::_load_for_mobile(options.model)", ModelPlace(argument=1)),
        ('model = torch.jit.load("net.pt")', ModelPlace(file="net.pt")),
        (
            'const std::string path = "../model/"\n    "net.pt";\nauto m = torch::jit::load(path);',
            ModelPlace(file="../model/net.pt"),
        ),
    ],
)
def test_where_a_program_looks_for_its_model(text: str, place: ModelPlace) -> None:
    assert model_places(text) == [place]


def test_a_program_without_a_load_gets_no_model() -> None:
    assert model_places('torch::load(tensor, "weights.pt"); file.load(path); reload("x");') == []


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "void f() {\n std::vector<IValue> in;\n in.push_back(x);\n n.forward(in);\n}\n"
            "void g() {\n std::vector<IValue> in;\n in.push_back(y);\n n.forward(in);\n}",
            ModelCall("forward", 1),
        ),
        ("std::vector<IValue> in;\nin.push_back(x);\nin.push_back(y);\nm.forward(in)", ModelCall("forward", 2)),
        ("std::vector<IValue> in{x, y, z};\nm.forward(in)", ModelCall("forward", 3)),
        ("in.push_back(x);\nm.forward(in);\nin.clear();\nin.push_back(y);\nm.forward(in);", ModelCall("forward", 1)),
        ("m.forward({x}).toTensor()", ModelCall("forward", 1)),
        ("m->forward({at::ones({2, 3}), y})\n  .toTuple()", ModelCall("forward", 2, "tuple")),
        ('m.get_method("encode")({x, y, z}).toTensorVector()', ModelCall("encode", 3, "list")),
        ('m.run_method("decode", f(x, y), z).toGenericDict()', ModelCall("decode", 2, "dict")),
        ("v.push_back(x);\nv.emplace_back(y);\nm.forward(v)", ModelCall("forward", 2)),
        ("std::vector<IValue> v{x, y};\nm.forward(std::move(v))", ModelCall("forward", 2)),
        ("m.forward({x}).toTuple()->elements()[3]", ModelCall("forward", 1, "tuple", 4)),
    ],
)
def test_how_a_program_calls_its_model(text: str, call: ModelCall) -> None:
    assert called_methods(text) == [call]


def test_a_guard_in_a_string_of_cpp_is_counted() -> None:
    """In place, in the literal; with PyTorch's own headers, which know no counter, it is left alone."""
    text = (
        'from torch.utils.cpp_extension import load_inline\n\nSOURCE = """\n'
        "at::Tensor f(const at::Tensor& x) { at::AutoNonVariableTypeMode guard(true); return x * 2; }\n"
        '"""\nload_inline(name="m", cpp_sources=SOURCE, functions=["f"])\n'
    )
    source = decode(text.encode(), "program.py")
    counted = CountedText(source)
    assert counted.facts is not None
    [use] = [use for piece in counted.facts.embedded for use in piece.guard_uses]
    result, numbers = counted.with_counters({7: use})
    assert numbers == {7}
    assert result.decode() == text.replace("{ at::Auto", "{ ::guardfix::Entered guardfix_entered_7(7); at::Auto")
    assert CountedText(source, embedded=False).with_counters({7: use}) == (text.encode(), frozenset())


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("auto y = m.forward({x});", 1000),
        ("torch::nn::Linear last(512, 2);", 512),
        ("Linear a(512, 2);\nLinear b{512, 10};", 512),
        ("Linear a(512, 2);\nLinear b(2, 10);", 1000),
        ("Linear a(LinearOptions(512, 2));", 1000),
    ],
)
def test_a_model_makes_as_many_scores_as_the_layer_behind_it_takes(text: str, scores: int) -> None:
    assert scores_for(text) == scores


def test_what_guards_are_wrapped_in_is_put_back() -> None:
    """A process that records its tests runs one that records another program; both end in any order."""
    outer, inner = within_reach(None), within_reach(None)
    outer.__enter__()
    inner.__enter__()
    inner.__exit__(None, None, None)
    assert hasattr(builtins, BUILTIN)
    vars(builtins).pop(BUILTIN)
    outer.__exit__(None, None, None)
    assert not hasattr(builtins, BUILTIN)
