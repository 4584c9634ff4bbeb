"""Random C++ programs, on libtorch 2.13 and on the shim's headers, compared after each statement.

    python -m tests.runtime_shim.cpp.drawn live --programs 2000     draw, compile, run on both, compare, shrink
    python -m tests.runtime_shim.cpp.drawn show 7                   print one program

A program is a function; a source file has hundreds of them, so that the headers are read once. The pieces:

- `generator` draws a program: statements that write to variables `v[0]` to `v[7]`, and guards around them. `scene` is
  what it knows of them meanwhile. The profile "wide" (`--profile wide`) has the statements of `wide_statements` as
  well, which call what is in `wide_support.h`: Functions, ops with kernels, threads, layers, optimizers.
- `support.h` runs a statement under `try` and prints what can be seen of every variable that it changed. A statement
  can be left out when the program is run, so that shrinking compiles nothing.
- `building` writes the source files, compiles them against either, and runs the programs.
- `comparing` reads what was printed and finds the first disagreement; `found.txt` has all that were ever found.
"""
