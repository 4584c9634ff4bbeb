"""guardfix: checks, migrates and verifies PyTorch's gradient-mode guards in C++ and Python code.

The names below are the library. They are imported when they are first asked for, as the quick answer of `guardfix
check` needs none of them.
"""

from __future__ import annotations

from .package_version import VERSION as __version__  # noqa: F401

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import *  # noqa: F403
else:

    def __getattr__(name):
        from importlib import import_module

        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        api = import_module(f"{__name__}.api")  # `from . import api` would ask here for `api` first
        names = {"__all__": ["__version__", *api.__all__]} | {public: getattr(api, public) for public in api.__all__}
        if name not in names:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals().update(names)
        return names[name]

    def __dir__():
        return sorted({*globals(), *__getattr__("__all__")})
