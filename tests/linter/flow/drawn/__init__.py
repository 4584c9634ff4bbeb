"""The abstract machine against concrete runs, on programs that are drawn.

- `drawing` draws a program: about twenty lines that use guards, tensors, functions, classes and containers.
- `concrete_runs` runs it on whatever `torch` is bound to, and says which lines it reached and where it was stopped.
- `watching` runs the machine on it, and notes at which lines the machine isn't sure.
- `agreement` compares the two, goes on behind what has stopped a program, and makes a failing program smaller.

bench/flow_agreement.py runs many, on the shim or on PyTorch itself.
"""
