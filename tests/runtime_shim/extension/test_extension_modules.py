"""An extension module in C++, compiled and imported while the program runs, as `torch.utils.cpp_extension.load` does."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim.utils.cpp_extension import load, load_inline

SOURCE = Path(__file__).parent / "sample_extension.cpp"

pytest.importorskip("pybind11")
pytestmark = pytest.mark.thorough  # compiling the module takes as long as a thousand other tests


@pytest.fixture(scope="module")
def sample() -> Any:
    return load("sample_extension", SOURCE)


@pytest.fixture
def ops(sample: Any) -> Any:
    return torch.ops.sample


def ones(*shape: int, **options: Any) -> Any:
    return torch.ones(*shape, **options)


# ---- values across the border


def test_a_tensor_stays_the_same_object(sample: Any) -> None:
    x = ones(2)
    assert sample.same(x) is x


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda m: m.is_missing(), True, id="optional, by default"),
        pytest.param(lambda m: m.is_missing(None), True, id="optional, None"),
        pytest.param(lambda m: m.is_missing(ones(1)), False, id="optional, given"),
        pytest.param(lambda m: m.total([1, 2, 3]), 6, id="list of integers"),
        pytest.param(lambda m: m.total((4, 5)), 9, id="tuple of integers"),
        pytest.param(lambda m: m.sizes_of([ones(2), ones(3, 3)]), [2, 9], id="c10::List, both ways"),
        pytest.param(lambda m: m.modes(), (True, False), id="tuple of bools"),
    ],
)
def test_values_come_through(sample: Any, call: Any, expected: Any) -> None:
    assert call(sample) == expected


def test_dtype_device_and_scalar_come_through(sample: Any) -> None:
    made = sample.filled([2, 2], 7, torch.int64, torch.device("cpu"))
    assert made.dtype is torch.int64
    assert made.tolist() == [[7, 7], [7, 7]]


def test_a_generator_comes_through(sample: Any) -> None:
    generator = torch.Generator()
    first, again = (sample.drawn(generator.manual_seed(3)) for _ in range(2))
    assert first.tolist() == again.tolist() == torch.rand(2, generator=generator.manual_seed(3)).tolist()
    with pytest.raises(TypeError, match=r"drawn\(\): incompatible function arguments"):
        sample.drawn(3)


def test_a_tuple_of_a_tensor_and_a_list(sample: Any) -> None:
    first, parts = sample.halves(torch.arange(4))
    assert first.tolist() == [0, 1]
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        pytest.param(lambda m: m.fail("index"), IndexError, "no such index", id="IndexError"),
        pytest.param(lambda m: m.fail("value"), ValueError, "no such value", id="ValueError"),
        pytest.param(lambda m: m.fail("missing"), NotImplementedError, "no such function", id="NotImplementedError"),
        pytest.param(lambda m: m.fail("other"), RuntimeError, "failed: other", id="RuntimeError"),
        pytest.param(lambda m: m.same(None), TypeError, "incompatible function arguments", id="None is not a tensor"),
        pytest.param(
            lambda m: m.total([1.5]), TypeError, "incompatible function arguments", id="1.5 is not an integer"
        ),
    ],
)
def test_errors_of_the_module(sample: Any, call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(sample)


# ---- autograd and modes are those of the calling thread


def test_history_goes_on_in_the_module(sample: Any) -> None:
    x = ones(4, requires_grad=True)
    first, _ = sample.halves(x * 3)
    first.sum().backward()
    assert x.grad.tolist() == [3, 3, 0, 0]


def test_modes_of_python_hold_in_the_module(sample: Any) -> None:
    with torch.no_grad():
        assert sample.modes() == (False, False)
    with torch.inference_mode():
        assert sample.modes() == (False, True)


def test_a_guard_of_the_module_ends_with_its_scope(sample: Any) -> None:
    assert sample.doubled_in_inference_mode(ones(2)).is_inference()
    assert sample.modes() == (True, False)


# ---- kernels


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "int32", "int64", "uint8"])
def test_accessors_in_a_dispatched_kernel(sample: Any, dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=getattr(torch, dtype))
    assert sample.row_sums(x).tolist() == [6, 15]


def test_a_type_that_is_not_dispatched_is_named(sample: Any) -> None:
    with pytest.raises(NotImplementedError, match="\"row_sums\" not implemented for 'Bool'"):
        sample.row_sums(torch.ones(1, 1, dtype=torch.bool))


def test_pieces_of_a_parallel_loop_make_tensors(sample: Any) -> None:
    assert sample.tensors_made_in_parallel(8) == 28


# ---- ops in torch.ops


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda o: o.scale(ones(1)), [2.0], id="defaults"),
        pytest.param(lambda o: o.scale(ones(1), 3.0), [3.0], id="by position"),
        pytest.param(lambda o: o.scale(ones(1), 3.0, mode="twice"), [9.0], id="keyword only"),
        pytest.param(lambda o: o.scale(ones(1), torch.tensor([5.0])), [5.0], id="overload, chosen by the arguments"),
        pytest.param(lambda o: o.scale.Tensor(ones(1), torch.tensor([5.0])), [5.0], id="overload, by name"),
        pytest.param(lambda o: o.made([1], dtype=torch.int32, device="cpu"), [0], id="options of a factory"),
        pytest.param(lambda o: o.made([2], layout=torch.strided), [0.0, 0.0], id="a layout"),
        pytest.param(lambda o: o.swapped(ones(1), 2 * ones(1))[0], [2.0], id="boxed kernel"),
        pytest.param(lambda o: o.described(ones(1), 3)[0], [1.0], id="tuple of results"),
    ],
)
def test_ops_of_the_library(ops: Any, call: Any, expected: list[float]) -> None:
    assert call(ops).tolist() == expected


def test_the_schema_of_a_function_without_one(ops: Any) -> None:
    schema = str(ops.described.default._schema)
    assert schema == "sample::described(Tensor _0, SymInt _1) -> (Tensor _0, int _1, int[] _2)"
    assert ops.described(ones(2, 3), 4)[1:] == (4, [2, 3])


def test_what_python_asks_of_its_kernels(ops: Any) -> None:
    assert list(ops.scale._schemas) == ["", "Tensor"]
    asked = torch._C._dispatch_has_kernel_for_dispatch_key
    assert [asked("sample::scale", key) for key in ("CPU", "CUDA")] == [True, False]
    with pytest.raises(RuntimeError, match="Overloaded torch operator invoked from Python failed to match any schema"):
        ops.scale("x")


def test_register_operators(ops: Any) -> None:
    assert ops.old_total([1, 2]) == 3


def test_autograd_kernel_of_the_library(ops: Any) -> None:
    x = ones(2, requires_grad=True)
    result = ops.scale(x, 4.0)
    assert result.grad_fn.name() == "torch::autograd::CppNode<sample::Scale>"
    assert repr(result).endswith(", grad_fn=<Scale>>)")
    result.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_inference_mode_passes_the_autograd_kernel_by(ops: Any) -> None:
    with torch.inference_mode():
        assert ops.scale(ones(2)).is_inference()


def test_an_op_that_changes_its_argument_returns_it(ops: Any) -> None:
    x = ones(2)
    assert ops.add_one_(x) is x
    assert (x.tolist(), x._version) == ([2, 2], 1)


def test_the_trace_has_the_ops_of_the_library(ops: Any) -> None:
    with torch.trace() as trace:
        ops.scale(ones(2), 3.0)
    assert [step.op for step in trace.steps if step.op.startswith("sample")] == ["sample::scale"]


def test_python_gives_an_op_of_the_library_its_kernel(ops: Any) -> None:
    library = torch.library.Library("sample", "IMPL")
    library.impl("in_python", lambda x: x + 1, "CPU")
    try:
        assert ops.through_python(ones(1)).tolist() == [2.0]
    finally:
        library._destroy()


def test_a_kernel_of_python_under_autograd_is_called_from_cpp_as_well(ops: Any) -> None:
    library = torch.library.Library("sample", "IMPL")
    library.impl("in_python", lambda x: x + 1, "CPU")
    library.impl("in_python", lambda x: x * 10, "Autograd")
    try:
        assert ops.through_python(ones(1, requires_grad=True)).tolist() == [10.0]
    finally:
        library._destroy()


def test_an_op_without_a_kernel_says_so(ops: Any) -> None:
    with pytest.raises(NotImplementedError, match="Could not run 'sample::in_python'"):
        ops.in_python(ones(1))


# ---- classes in torch.classes


def test_an_object_of_a_class(sample: Any) -> None:
    counter = torch.classes.sample.Counter(3)
    assert counter.add(4) == 7
    assert (counter.count, len(counter)) == (7, 7)
    counter.count = 1
    assert torch.ops.sample.count_of(counter) == 1
    assert torch.classes.sample.Counter().count == 0
    assert torch.classes.sample.Counter(start=5).copy().count == 5
    assert counter.device() == torch.device("cpu")


def test_an_object_of_a_class_is_pickled(sample: Any) -> None:
    counter = torch.classes.sample.Counter(3)
    assert counter.__getstate__() == (3, "__torch__.torch.classes.sample.Counter")
    other = type(counter).__new__(type(counter))
    other.__setstate__(counter.__getstate__())
    assert other.count == 3
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(counter)


def test_a_class_that_nobody_registered_is_named(sample: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Tried to instantiate class 'sample\.Missing', but it does not exist!"):
        torch.classes.sample.Missing  # noqa: B018


# ---- a module of torch::nn


def test_a_bound_module_is_one_of_python(sample: Any) -> None:
    net = sample.Net(3, o=2)
    assert isinstance(net, torch.nn.Module)
    assert sorted(name for name, _ in net.named_parameters()) == ["linear.bias", "linear.weight", "scale"]
    assert [tuple(parameter.shape) for parameter in net.parameters(recurse=False)] == [(2,)]
    assert net.named_buffers()["calls"].tolist() == [0]
    assert "calls" in net.named_buffers()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net(ones(1, 3)).sum().backward()
    optimizer.step()
    assert net.named_parameters()["linear.bias"].grad.tolist() == [2, 2]
    net.eval()
    net(ones(1, 3))
    assert (net.training, net.buffers()[0].item(), repr(net)) == (False, 1, "sample::NetImpl")
    net.double()
    assert net.parameters()[0].dtype is torch.float64


# ---- what cannot be built


def test_an_error_of_the_compiler_is_told() -> None:
    with pytest.raises(RuntimeError, match=r"Error building extension 'broken'(.|\n)*at::no_such_function"):
        load_inline("broken", "at::Tensor f(at::Tensor x) { return at::no_such_function(x); }", functions="f")


def test_cuda_sources_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="the shim has no GPU"):
        load_inline("cuda", "", cuda_sources="__global__ void f() {}", functions=[])


OPENMP = """
at::Tensor rows(at::Tensor x) {
  auto out = torch::empty_like(x);
  #pragma omp parallel for num_threads(3)
  for (int64_t i = 0; i < x.size(0); ++i) out[i].copy_(x[i] * 2);
  #pragma omp parallel for schedule(dynamic) num_threads(3)
  for (int64_t i = 0; i < x.size(0); ++i) out[i].add_(1);
  double total = 0;
  #pragma omp parallel for reduction(+:total) schedule(guided) num_threads(3)
  for (int64_t i = 0; i < x.size(0); ++i) total += out[i].sum().item<double>();
  return out.add_(total);
}
"""
OPENMP_PROGRAM = f"""
import torch
from torch.utils.cpp_extension import load_inline

module = load_inline("openmp_rows", {OPENMP!r}, functions="rows", extra_cflags=["-fopenmp"], extra_ldflags=[FLAGS])
print(module.rows(torch.arange(6.).reshape(3, 2)).tolist())
"""


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param('"-fopenmp"', id="asked for when linking"),
        pytest.param('"-lgomp"', id="by the library's name", marks=pytest.mark.thorough),
        pytest.param("", id="as PyTorch's library brings it along"),
    ],
)
def test_threads_of_openmp_get_the_lock_that_the_function_holds(tmp_path: Path, flags: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(OPENMP_PROGRAM.replace("FLAGS", flags))
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "run", str(program)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[[37.0, 39.0], [41.0, 43.0], [45.0, 47.0]]\n", "")


THREADS = """\
#include <torch/extension.h>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

at::Tensor doubled_by(at::Tensor x, const std::string& how) {
  std::vector<at::Tensor> rows(x.size(0));
  std::mutex mutex;
  std::condition_variable done;
  int64_t left = x.size(0);
  auto one = [&](int64_t i) {
    const std::lock_guard<std::mutex> lock(mutex);
    rows[i] = x[i] * 2;  // the others wait meanwhile
    if (--left == 0) done.notify_all();
  };
  std::vector<std::thread> threads;
  std::vector<std::future<void>> futures;
  for (int64_t i = 0; i < x.size(0); ++i) {
    if (how == "future") futures.push_back(std::async(std::launch::async, one, i));
    else threads.emplace_back(one, i);
  }
  { const std::lock_guard<std::mutex> lock(mutex); left += 0; }
  for (auto& future : futures) future.wait_for(std::chrono::seconds(60));
  for (auto& future : futures) future.get();
  if (how == "condition") {
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return left == 0; });
  } else if (how == "condition with a limit") {
    std::unique_lock<std::mutex> lock(mutex);
    done.wait_for(lock, std::chrono::seconds(60), [&] { return left == 0; });
  }
  for (auto& thread : threads) thread.join();
  return at::stack(rows);
}
"""

THREADS_PROGRAM = f"""
import torch
from torch.utils.cpp_extension import load_inline

module = load_inline("doubled", {THREADS!r}, functions="doubled_by")
for how in ("thread", "future", "condition", "condition with a limit"):
    print(how, module.doubled_by(torch.arange(6.).reshape(3, 2), how).tolist(), flush=True)
"""


@pytest.mark.thorough  # compiles a module of its own
def test_a_function_that_waits_for_its_threads_lets_go_of_the_lock(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(THREADS_PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "run", str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    ways = ("thread", "future", "condition", "condition with a limit")
    assert (done.stdout.splitlines(), done.stderr) == (
        [f"{how} [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]" for how in ways],
        "",
    )
