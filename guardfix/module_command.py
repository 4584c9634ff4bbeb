"""How guardfix starts its own module as a process."""

from __future__ import annotations

import sys


def module_command(module: str) -> list[str]:
    """The command that runs a module, to which its arguments are added.

    Modules in the current folder don't take the places of others, as they would with `-m` alone: the folder is that of
    a program which isn't ours.
    """
    if sys.version_info >= (3, 11):
        return [sys.executable, "-P", "-m", module]
    # What -P does: the first entry is the current folder, and nothing has been imported by it yet.
    start = f"import sys; del sys.path[0]; import runpy; runpy.run_module({module!r}, None, '__main__', True)"
    return [sys.executable, "-c", start]


def sealed_command(module: str) -> list[str]:
    """The same for a module that contains its process, whose executable then can't be changed by what it runs."""
    if sys.platform != "linux":
        return module_command(module)
    return [*module_command("guardfix.runtime_shim.recording.contained_command"), "--seal", *module_command(module)]


def shadowed_modules(folder: str) -> list[str]:
    """The modules of Python's library whose places a folder's files would take.

    Processes that `multiprocessing` starts, and with it Dask, import from the current folder first, until they have
    the path of the process that started them.
    """
    from importlib.machinery import PathFinder

    specs = {name: PathFinder.find_spec(name, [folder]) for name in sys.stdlib_module_names}
    return sorted(name for name, spec in specs.items() if spec is not None and spec.has_location)
