"""guardfix: checks, migrates and verifies PyTorch's gradient-mode guards in C++ and Python code."""

import os

__version__ = "0.1.0"

# In a clone the folders that pyproject.toml maps below `guardfix` stand beside it. `python -m guardfix` called there
# imports the clone's guardfix, whatever is installed, so it takes the clone's parts too.
_clone = os.path.dirname(__path__[0])
if not os.path.isdir(os.path.join(__path__[0], "linter")) and os.path.isdir(os.path.join(_clone, "linter", "rules")):
    __path__.append(_clone)
