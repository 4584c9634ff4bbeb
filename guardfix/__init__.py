"""guardfix: checks, migrates and verifies PyTorch's gradient-mode guards in C++ and Python code.

The names below are the library. They are imported when they are first asked for, as the quick answer of `guardfix
check` needs none of them.
"""

from __future__ import annotations

from .version import VERSION as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import (
        Applicability,
        BadConfiguration,
        BadPattern,
        Confidence,
        Context,
        Decision,
        Edit,
        Evidence,
        Fix,
        FixableFinding,
        FixableReport,
        FixChoice,
        FixedText,
        NoSuchPath,
        Options,
        Position,
        Severity,
        UnknownRule,
        Workspace,
        check,
        check_text,
        fix_text,
        options_for,
    )
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import api

        globals().update({public: getattr(api, public) for public in __all__ if public != "__version__"})
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "Applicability",
    "BadConfiguration",
    "BadPattern",
    "Confidence",
    "Context",
    "Decision",
    "Edit",
    "Evidence",
    "Fix",
    "FixChoice",
    "FixableFinding",
    "FixableReport",
    "FixedText",
    "NoSuchPath",
    "Options",
    "Position",
    "Severity",
    "UnknownRule",
    "Workspace",
    "__version__",
    "check",
    "check_text",
    "fix_text",
    "options_for",
]
