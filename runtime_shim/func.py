"""`torch.func`: a module called with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections import Counter
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
    with `strict` when names are missing or unknown; ValueError when one name, or one tensor, is given several.
    """
    given = _joined(parameter_and_buffer_dicts)
    own = {
        name: tensor
        for tensors in (module.named_parameters, module.named_buffers)
        for name, tensor in tensors(remove_duplicate=False)
    }
    wanted = _tied(own, given) if tie_weights else given
    if strict:
        _check_names(module, own, wanted)
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    with _replaced(module, wanted):
        return module(*args, **(kwargs or {}))


def _joined(dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    counts = Counter(name for one in dicts for name in one)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for one in dicts for name, tensor in one.items()}


def _tied(own: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors under all names that the module has for one of them."""
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for tied in names.values():
        values = {id(given[name]): given[name] for name in tied if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for value in values.values():
            found.update(dict.fromkeys(tied, value))
    return found


def _check_names(module: Any, own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    texts = [
        f"{what} key(s): {', '.join(map(repr, names))}."
        for what, names in (
            ("Unexpected", [name for name in given if name not in own]),
            ("Missing", [name for name in own if name not in given]),
        )
        if names
    ]
    if texts:
        raise RuntimeError("\n\t".join([f"Error(s) in reparametrizing for {module._get_name()}:", *texts]))


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
