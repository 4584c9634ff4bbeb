"""What terminals show of an error: the message, and the frames of the user's own code."""

from __future__ import annotations

import pytest

from guardfix.why.tracebacks import read_traceback

SAVED = (
    "RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
    "tensor and use it in autograd."
)
PYTHON = f"""\
epoch 1
Traceback (most recent call last):
  File "/home/me/app/train.py", line 29, in <module>
    main()
  File "/home/me/app/train.py", line 17, in main
    loss = head(feats)
           ^^^^^^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1778, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
{SAVED}
"""
CHAINED = f"""\
{PYTHON}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/app/cleanup.py", line 3, in close
    self.file.close()
AttributeError: 'Trainer' object has no attribute 'file'
"""
WORKER = f"""\
Traceback (most recent call last):
  File "run.py", line 4, in <module>
    for batch in loader:
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/opt/conda/lib/python3.10/site-packages/torch/utils/data/_utils/worker.py", line 308, in _worker_loop
    data = fetcher.fetch(index)
  File "data.py", line 11, in __getitem__
    return self.table * self.scale
{SAVED}
"""
PYTEST = f"""\
    def test_step():
>       step(net, x)

tests/test_train.py:12:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
    def step(net, x):
>       loss = net(x) * w
E       {SAVED}

app/train.py:7: RuntimeError
"""
SHORT_PYTEST = f"""\
tests/test_train.py:12: in test_step
    step(net, x)
app/train.py:7: in step
    loss = net(x) * w
E   {SAVED}
"""
IPYTHON = f"""\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
File app/train.py:7, in step(net, x)
      5 def step(net, x):
----> 7     loss = net(x) * w

{SAVED}
"""
OLD_IPYTHON = f"""\
<ipython-input-3-abc> in <module>
----> 1 Trainer().fit()

app/main.py in fit(self)
----> 4         self.step(x)
      5

app/train.py in step(net, x)
      5 def step(net, x):
      6     net.train()
----> 7     loss = net(x) * w

{SAVED}
"""
RICH = f"""\
╭──────────── Traceback (most recent call last) ────────────╮
│ /srv/app/main.py:9 in main                                │
│                                                           │
│ ❱  9 │   step(net, x)                                     │
│                                                           │
│ /srv/app/train.py:7 in step                               │
│                                                           │
│ ❱  7 │   loss = net(x) * w                                │
╰───────────────────────────────────────────────────────────╯
{SAVED}
"""
CPP = """\
terminate called after throwing an instance of 'c10::Error'
  what():  Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor
Exception raised from set_saved_variable at ../torch/csrc/autograd/saved_variable.cpp:23 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f1 in /opt/libtorch/lib/libc10.so)
frame #1: torch::autograd::SavedVariable::SavedVariable(at::Tensor const&, bool, bool) + 0x4d1 (0x7f2 in /opt/libtorch/lib/libtorch_cpu.so)
frame #2: at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&) + 0x13e (0x7f3 in /opt/libtorch/lib/libtorch_cpu.so)
frame #3: app::loss_of(at::Tensor const&) + 0x2d (0x55 in ./train)
frame #4: main + 0x1c (0x55 in ./train)
frame #5: __libc_start_main + 0xe5 (0x7f4 in /lib/x86_64-linux-gnu/libc.so.6)
"""
GDB = """\
terminate called after throwing an instance of 'c10::Error'
  what():  Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone
#7  0x00007ffff5 in at::Tensor::add_ (this=0x7ffe) at /opt/libtorch/include/ATen/core/TensorBody.h:1700
#8  0x0000555555 in app::Ring::push (this=0x7ffe) at src/ring.cpp:31
#9  0x0000555556 in main () at src/main.cpp:9
"""


def prefixed(text: str, *prefixes: str) -> str:
    """The text with these in turn in front of its lines."""
    return "".join(
        f"{prefixes[number % len(prefixes)]}{line}" for number, line in enumerate(text.splitlines(keepends=True))
    )


CASES = [
    pytest.param(
        PYTHON, "inference-tensor-saved", ["/home/me/app/train.py:29", "/home/me/app/train.py:17"], id="Python"
    ),
    pytest.param(
        CHAINED,
        "inference-tensor-saved",
        ["/home/me/app/train.py:29", "/home/me/app/train.py:17"],
        id="the one with a known message, of two",
    ),
    pytest.param(WORKER, "inference-tensor-saved", ["run.py:4", "data.py:11"], id="in a worker process"),
    pytest.param(PYTEST, "inference-tensor-saved", ["tests/test_train.py:12", "app/train.py:7"], id="pytest"),
    pytest.param(SHORT_PYTEST, "inference-tensor-saved", ["tests/test_train.py:12", "app/train.py:7"], id="in short"),
    pytest.param(IPYTHON, "inference-tensor-saved", ["app/train.py:7"], id="IPython"),
    pytest.param(
        OLD_IPYTHON, "inference-tensor-saved", ["app/main.py:4", "app/train.py:7"], id="IPython before version 8"
    ),
    pytest.param(RICH, "inference-tensor-saved", ["/srv/app/main.py:9", "/srv/app/train.py:7"], id="rich"),
    pytest.param(
        prefixed(PYTHON, "[rank0]: "),
        "inference-tensor-saved",
        ["/home/me/app/train.py:29", "/home/me/app/train.py:17"],
        id="behind torchrun's rank",
    ),
    pytest.param(
        "ready\n" + prefixed(PYTHON, "(Actor pid=9, ip=10.0.0.1) "),
        "inference-tensor-saved",
        ["/home/me/app/train.py:29", "/home/me/app/train.py:17"],
        id="behind Ray's process",
    ),
    pytest.param(
        prefixed(PYTHON, "2026-01-02 10:59:59,998 ERROR ", "2026-01-02 11:00:00,003 ERROR "),
        "inference-tensor-saved",
        ["/home/me/app/train.py:29", "/home/me/app/train.py:17"],
        id="behind a logger's time",
    ),
    pytest.param(
        PYTHON.replace("Traceback", "ERROR:trainer:Traceback"),
        "inference-tensor-saved",
        ["/home/me/app/train.py:29", "/home/me/app/train.py:17"],
        id="with a logger's name in front of the first line alone",
    ),
    pytest.param(CPP, "inference-tensor-saved", ["main", "app::loss_of"], id="C++, functions alone"),
    pytest.param(
        GDB,
        "inference-tensor-written",
        ["main src/main.cpp:9", "app::Ring::push src/ring.cpp:31"],
        id="C++, a debugger",
    ),
    pytest.param(SAVED, "inference-tensor-saved", [], id="a message alone"),
    pytest.param("ValueError: bad input", None, [], id="something else"),
    pytest.param("", None, [], id="nothing"),
]


@pytest.mark.parametrize(("text", "key", "frames"), CASES)
def test_a_traceback_is_read(text: str, key: str | None, frames: list[str]) -> None:
    found = read_traceback(text)
    assert (found.message.key if found.message is not None else None) == key
    assert [shown(frame.path, frame.row, frame.function if found.cpp else "") for frame in found.frames] == frames


def shown(path: str, row: int, function: str) -> str:
    return " ".join(filter(None, (function, f"{path}:{row}" if path else "")))


def test_the_error_is_shown_without_what_stands_in_front_of_its_line() -> None:
    assert read_traceback(prefixed(PYTHON, "[rank3]: ")).line == SAVED


def test_colors_and_the_line_ends_of_windows_are_no_part_of_it() -> None:
    colored = PYTHON.replace("RuntimeError", "\x1b[1;35mRuntimeError\x1b[0m").replace("\n", "\r\n")
    assert read_traceback(colored) == read_traceback(PYTHON)
