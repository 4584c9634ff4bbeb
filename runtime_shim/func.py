"""`torch.func`: a module called with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with these tensors by their dotted names; afterwards it has its own again.

    With `tie_weights` a tensor that the module has under several names is replaced under all of them. RuntimeError
    with `strict` when names are missing or unknown; ValueError when one name has several tensors.
    """
    given = _joined(parameter_and_buffer_dicts)
    own = {
        name: tensor
        for tensors in (module.named_parameters, module.named_buffers)
        for name, tensor in tensors(remove_duplicate=False)
    }
    if strict:
        _check_names(own, given)
    wanted = dict(given)
    if tie_weights:
        by_tensor = {id(own[name]): tensor for name, tensor in given.items() if name in own}
        wanted = {name: by_tensor[id(tensor)] for name, tensor in own.items() if id(tensor) in by_tensor} | wanted
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    with _replaced(module, wanted):
        return module(*args, **(kwargs or {}))


def _joined(dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    found: dict[str, Any] = {}
    for one in dicts:
        twice = found.keys() & one.keys()
        if twice:
            raise ValueError(f"{min(twice)} appears in multiple dictionaries; behavior of functional call is ambiguous")
        found.update(one)
    return found


def _check_names(own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    texts = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", given.keys() - own.keys()), ("Missing", own.keys() - given.keys()))
        if names
    ]
    if texts:
        raise RuntimeError("Error(s) in functional_call: " + " ".join(texts))


@contextmanager
def _replaced(module: Any, tensors: Mapping[str, Any]) -> Iterator[None]:
    """The tensors stand in the module inside, whatever kind each of them is."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for path, tensor in tensors.items():
            folder, _, name = path.rpartition(".")
            holder = module.get_submodule(folder)
            table = next((t for t in (holder._parameters, holder._buffers) if name in t), None)
            if table is None:
                raise KeyError(path)
            before.append((table, name, table[name]))
            table[name] = tensor
        yield
    finally:
        for table, name, tensor in reversed(before):
            table[name] = tensor


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.func", name)
