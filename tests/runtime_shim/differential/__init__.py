"""The differential test: random small programs, on PyTorch 2.13 and on the shim, compared at each statement.

    python -m tests.runtime_shim.differential replay                 compare with recorded runs of torch
    python -m tests.runtime_shim.differential live --programs 2000   compare with torch, on new programs
    python -m tests.runtime_shim.differential record                 make recorded.json.xz anew
    python -m tests.runtime_shim.differential show documented 7      print one program

`live` and `record` need torch 2.13.0: `pip install guardfix[oracle]`.

The pieces, in the order in which a program meets them:

- `generator/` draws a program. A program is data: a profile, a seed and a tuple of source lines.
- `runner` executes the lines on a torch-like module, each under `try`, and observes every variable after it.
- `observe` says what that is: dtype, shape, values, flags, version, base, gradient.
- `compare` finds the first disagreement of two runs.
- `forked_runs` runs PyTorch in a child process, for programs that it doesn't live through.
- `recording` stores the runs of PyTorch, so that the suite needs no torch.
- `shrink` removes lines while the disagreement stays; `script` prints what is left as a program of its own.
"""
