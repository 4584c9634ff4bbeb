"""What C++ asks about the modules of archives: torch/script.h."""

from __future__ import annotations

import copy
import io
from typing import Any


class ScriptModuleQuestions:
    """The part of `Backend` for them."""

    torch: Any

    def jit_load(self, source: str | bytes, extra_files: dict[str, Any]) -> Any:
        """The module of an archive, by its path or its bytes; what it has of the extra files is put in."""
        archive = io.BytesIO(source) if isinstance(source, bytes) else source
        return self.torch.jit.load(archive, _extra_files=extra_files)

    def jit_save(self, module: Any, extra_files: dict[str, Any]) -> bytes:
        file = io.BytesIO()
        self.torch.jit.save(module, file, _extra_files=extra_files)
        return file.getvalue()

    def jit_run_method(self, module: Any, name: str, arguments: list[Any]) -> Any:
        return getattr(module, name)(*arguments)

    def jit_train(self, module: Any, on: bool) -> None:
        module.train(on)

    def jit_to(self, module: Any, where: Any) -> None:
        module.to(where)

    def jit_copy(self, module: Any, deep: bool) -> Any:
        return copy.deepcopy(module) if deep else copy.copy(module)

    def jit_freeze(self, module: Any, preserved: list[str]) -> Any:
        """The module as a frozen one; one that is frozen already has no flag `training`."""
        return self.torch.jit.freeze(module, preserved) if hasattr(module, "training") else module

    def jit_named(self, module: Any, kind: str) -> list[tuple[str, Any]]:
        return list(getattr(module, f"named_{kind}")())

    def is_module(self, value: object) -> bool:
        return isinstance(value, self.torch.nn.Module)

    def jit_attr(self, module: Any, name: str) -> Any:
        return getattr(module, name)

    def jit_type_name(self, module: Any) -> str:
        """The qualified name of a module's class."""
        return str(module._c._type().annotation_str)

    def jit_has_method(self, module: Any, name: str) -> bool:
        return callable(getattr(module, name, None))

    def jit_hasattr(self, module: Any, name: str) -> bool:
        return hasattr(module, name)
