"""TorchScript without PyTorch: `load(path)` gives a module of an archive, which `save(module, path)` writes again;
`script` checks a function or a module, `trace` records one.

    module = jit.load("model.pt")
    module.eval()
    output = module(images)

The archive is a real one, as PyTorch's `torch.jit.save` writes it: a zip file with the model's attributes
as a pickle, its tensors as raw records, and its code in a subset of Python's syntax. Nothing of it is
trusted. The zip is checked, the pickle goes through a machine that calls nothing, the code is walked and
its ops are looked up in a closed table; whatever does not fit is an `ArchiveError` with the file, the line
and the reason. Names that concern functions of Python are imported when they are asked for.
"""

from __future__ import annotations

from typing import Any, Final

from .archive_loader import load
from .archive_writer import save
from .script_module import ArchiveModule as Module
from .script_source import Method
from .script_values import ArchiveError, Error
from .torchscript_archive import ArchiveLimits as Limits

_OF_FUNCTIONS = """
    RecursiveScriptModule ScriptFunction ScriptModule TracedModule TracerWarning TracingCheckError _overload
    _script_if_tracing annotate export freeze ignore is_scripting is_tracing optimize_for_inference script
    script_if_tracing script_method trace trace_module unused fork wait _fork _wait Future
""".split()

__all__ = ["ArchiveError", "Error", "Final", "Limits", "Method", "Module", "load", "save"]


def __getattr__(name: str) -> Any:
    if name in _OF_FUNCTIONS:
        from . import scripted_functions

        return getattr(scripted_functions, name)
    from ..core.supported_names import missing

    return missing("torch.jit", name)
