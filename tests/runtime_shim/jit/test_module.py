"""The interface of a loaded module, on the shim."""

from __future__ import annotations

import copy
import io
import threading
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim import jit

from .forging import HEADER, model, records_of, zipped

ARCHIVES = Path(__file__).parent / "archives"


@pytest.fixture
def tree() -> jit.Module:
    return jit.load(ARCHIVES / "tree.pt")


@pytest.fixture
def attributes() -> jit.Module:
    return jit.load(ARCHIVES / "attributes.pt")


def two() -> Any:
    return torch.tensor([1.0, 2.0])


@pytest.mark.parametrize("kind", ["path", "string", "file", "buffer"])
def test_sources(kind: str) -> None:
    path = ARCHIVES / "guards.pt"
    if kind == "file":
        with path.open("rb") as file:
            module = jit.load(file)
    else:
        module = jit.load({"path": path, "string": str(path), "buffer": io.BytesIO(path.read_bytes())}[kind])
    assert module.weight.tolist() == [1.0, 2.0]


def test_a_buffer_is_read_from_where_it_stands() -> None:
    buffer = io.BytesIO(b"header" + (ARCHIVES / "guards.pt").read_bytes())
    buffer.seek(6)
    assert jit.load(buffer).weight.tolist() == [1.0, 2.0]


def test_extra_files() -> None:
    files = {"notes.txt": b"", "missing.txt": b"as before"}
    jit.load(io.BytesIO(zipped(model(more={"extra/notes.txt": b"hello"}))), _extra_files=files)
    assert files == {"notes.txt": b"hello", "missing.txt": b"as before"}


def test_methods(tree: jit.Module) -> None:
    tree(two())
    total, calls, history = tree.run_method("report", detail=True)
    assert (total, calls, len(history)) == (4.0, 2, 1)
    assert tree.get_method("report")() == tree.report()
    assert tree.get_method("report").schema == (
        "report(__torch__.archive_models.Tree self, bool detail=False) -> (float, int, float[])"
    )
    assert {method.name for method in tree.get_methods()} == {"forward", "report"}
    assert tree.find_method("nothing") is None
    with pytest.raises(RuntimeError, match=r"Method 'nothing' is not defined\."):
        tree.run_method("nothing")


def test_a_returned_list_is_the_callers_own(tree: jit.Module) -> None:
    tree(two())
    tree.report()[2].append("x")
    assert len(tree.report()[2]) == 1


def test_a_list_that_is_given_stays_the_callers_own() -> None:
    module = jit.load(ARCHIVES / "containers.pt")
    given = [3, 4, 5]
    module(given, {"b": two()})
    assert given == [3, 4, 5]


def test_names(tree: jit.Module) -> None:
    assert [name for name, _ in tree.named_children()] == [
        "blocks",
        "named",
        "steps",
        "scales",
        "tied",
        "tied_again",
    ]
    assert len(list(tree.modules())) == len(list(tree.named_modules())) == 14
    names = [name for name, _ in tree.named_parameters()]
    assert "scales.1" in names
    assert ("tied.weight" in names, "tied_again.weight" in names) == (True, False)
    assert "tied_again.weight" in tree.state_dict()
    assert [name for name, _ in tree.named_buffers(recurse=False)] == []
    assert len(tree.blocks) == 2
    assert [block.calls for block in tree.blocks] == [0, 0]
    assert tree.blocks[1] is tree.blocks.attr("1")
    assert "left" in tree.named
    assert tree.named["left"].weight.tolist() == [0.0, 1.0]
    assert tree.original_name == "Tree"
    assert {"forward", "report", "blocks", "history"} <= set(dir(tree))
    with pytest.raises(TypeError, match="not a container"):
        len(tree)


def test_attributes(attributes: jit.Module) -> None:
    assert (attributes.count, attributes.big, attributes.name) == (3, 2**40, "a model")
    assert attributes.infinite == float("inf")
    assert attributes.number == 1 + 2j
    assert (attributes.nothing, attributes.something, attributes.no_ints) == (None, 4, [])
    assert attributes.names == ["x", "yé"]
    assert attributes.pair == (1, "two", [3.0])
    assert attributes.by_number == {1: "one"}
    assert str(attributes.device) == "cpu"
    assert attributes.tensor_map["a"].tolist() == [1.0, 2.0]
    assert attributes.attr("half").dtype is torch.float16
    assert (attributes.empty.shape, attributes.expanded.tolist()) == ((0, 3), [[1.0] * 3] * 2)
    assert attributes.complex.tolist() == [1 + 2j]
    assert attributes.attr("ratio") == 1.5
    assert (attributes.hasattr("ratio"), attributes.hasattr("forward")) == (True, False)
    assert attributes.attr("none", 7) == 7
    with pytest.raises(AttributeError, match="does not have a field with name 'none'"):
        attributes.attr("none")
    with pytest.raises(AttributeError, match="has no attribute 'none'"):
        _ = attributes.none


def test_setting_an_attribute(attributes: jit.Module) -> None:
    attributes.count = 10
    attributes.setattr("ratio", 2)
    assert (attributes.count, type(attributes.ratio)) == (10, float)
    with pytest.raises(RuntimeError, match="Could not cast attribute 'count' to int"):
        attributes.count = "ten"
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        attributes.other = 1


def test_tensors_over_one_storage_share_it(attributes: jit.Module) -> None:
    assert attributes.row.tolist() == [4.0, 5.0, 6.0, 7.0]
    assert attributes.column.tolist() == [2.0, 6.0, 10.0]
    assert attributes.transposed.shape == (4, 3)
    assert attributes.transposed.stride() == (1, 4)
    attributes.whole.zero_()
    assert attributes.row.tolist() == [0.0] * 4
    assert attributes.transposed.tolist() == [[0.0] * 3] * 4
    for tensor in (attributes.row, attributes.whole):
        assert not tensor._is_view()
    assert (attributes.whole._version, attributes.row._version) == (1, 0)


def test_train_and_eval_reach_all_modules(tree: jit.Module) -> None:
    assert tree.eval() is tree
    assert {module.training for module in tree.modules()} == {False}
    tree.named.train()
    assert (tree.named["left"].training, tree.blocks.training) == (True, False)


def test_to_converts_parameters_in_place(tree: jit.Module) -> None:
    before = list(tree.parameters())
    tree.double()
    assert [id(tensor) for tensor in tree.parameters()] == [id(tensor) for tensor in before]
    assert {tensor.dtype for tensor in tree.state_dict().values()} == {torch.float64}
    assert tree.tied.weight is tree.tied_again.weight
    assert tree(two().double()).dtype is torch.float64
    tree.to(torch.float32)
    assert all(parameter.requires_grad for parameter in tree.parameters())
    with pytest.raises(TypeError, match="only accepts floating point"):
        tree.to(torch.int64)


def test_to_leaves_integers_alone(attributes: jit.Module) -> None:
    attributes.to(torch.float64)
    assert (attributes.whole.dtype, attributes.hidden.dtype) == (torch.float64, torch.bool)


def test_gradients(tree: jit.Module) -> None:
    tree(two()).sum().backward()
    assert all(parameter.grad is not None for parameter in tree.parameters())
    tree.zero_grad()
    assert all(parameter.grad is None for parameter in tree.parameters())
    tree.requires_grad_(False)
    assert not tree(two()).requires_grad


def test_a_copy_is_a_model_of_its_own(tree: jit.Module) -> None:
    twin = copy.deepcopy(tree)
    twin(two())
    assert (len(twin.history), len(tree.history)) == (1, 0)
    assert twin.tied.weight is twin.tied_again.weight
    assert twin.tied.weight is not tree.tied.weight


@pytest.mark.parametrize(
    ("guard", "inference", "view_of_result"),
    [(torch.no_grad, False, False), (torch.inference_mode, True, False), (torch.enable_grad, False, False)],
    ids=["no_grad", "inference_mode", "enable_grad"],
)
def test_guards_apply_to_loading_and_running(guard: Any, inference: bool, view_of_result: bool) -> None:
    with guard():
        module = jit.load(ARCHIVES / "guards.pt")
        fixed, free, detached, inside = module(two())
    assert module.weight.is_inference() is inference
    assert module.weight.requires_grad
    assert module.weight.is_leaf
    assert [tensor.is_inference() for tensor in (fixed, free, detached)] == [inference] * 3
    assert free.requires_grad is (guard is torch.enable_grad)
    assert free._is_view() is view_of_result
    assert inside is False


def test_a_guard_in_the_model_ends_with_it_also_after_an_error() -> None:
    module = jit.load(ARCHIVES / "guards.pt")
    module(two())
    assert torch.is_grad_enabled()
    with pytest.raises(RuntimeError, match="in forward"):
        module(torch.ones(5))
    assert torch.is_grad_enabled()


def test_a_model_loaded_in_inference_mode_follows_the_rules_outside() -> None:
    with torch.inference_mode():
        module = jit.load(ARCHIVES / "tree.pt")
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        module(two())
    with torch.inference_mode():
        assert module(two()).is_inference()


def test_an_error_shows_the_way_through_the_code(tree: jit.Module) -> None:
    with pytest.raises(RuntimeError) as caught:
        tree(torch.ones(3))
    text = str(caught.value)
    assert text.startswith("The following operation failed in the TorchScript interpreter.\n")
    assert text.count('File "code/__torch__/archive_models.py", line ') == 2
    assert "in forward" in text
    assert "<--- HERE" in text
    assert text.endswith("\n")
    assert caught.value.__cause__ is not None


def test_an_error_of_the_model_is_no_runtime_error() -> None:
    with pytest.raises(jit.Error, match=r"builtins\.ValueError: mode value") as caught:
        jit.load(ARCHIVES / "control_flow.pt")(two(), "value")
    assert not isinstance(caught.value, RuntimeError)


def test_threads_run_one_module(tree: jit.Module) -> None:
    results: list[Any] = []
    expected = copy.deepcopy(tree).steps(two()).tolist()
    threads = [threading.Thread(target=lambda: results.append(tree.steps(two()).tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_an_old_format_is_read_but_not_its_changed_ops() -> None:
    code = HEADER + "  def forward(self, x: Tensor, n: int) -> Tensor:\n"
    halves = code + "    y = torch.div(n, 2)\n    return torch.div(x, y)\n"
    old = jit.load(io.BytesIO(zipped(model(halves))))
    with pytest.raises(NotImplementedError, match="has another meaning in file format 3"):
        old(two(), 4)
    new = jit.load(io.BytesIO(zipped(model(halves, more={"version": b"4"}))))
    assert new(two(), 4).tolist() == [0.5, 1.0]
    full = code + "    return torch.full([n], 1.)\n"
    with pytest.raises(jit.ArchiveError, match="has another meaning in file format 4"):
        jit.load(io.BytesIO(zipped(model(full, more={"version": b"4"}))))


def test_code_shows_the_archives_source() -> None:
    module = jit.load(ARCHIVES / "guards.pt")
    assert module.code.startswith("def forward(self,\n    x: Tensor) -> ")
    assert "  with _" in module.code
    records = records_of("guards")
    assert all(
        line.strip() in records["code/__torch__/archive_models.py"].decode() for line in module.code.splitlines()[2:]
    )
