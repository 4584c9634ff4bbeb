"""`torch.func`: transforms of functions over the tape, and modules called with other tensors in place of their own.

Inside a transform, gradient mode is on and inference mode off, whatever is on outside, and an inference tensor may be
saved; of what comes out, only what was recorded outside can be differentiated there. `vmap` calls the function once for
each element of the batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .aten.random_numbers import default_generator
from .core.function_table import FUNCTIONS
from .core.gradient_modes import enable_grad, inference_mode
from .core.supported_names import refuses_missing
from .core.tensor import Tensor
from .core.thread_state import tls
from .utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state", "vjp",
    "vmap",
]  # fmt: skip


Function = Callable[..., Any]
ArgNums = int | tuple[int, ...]


@contextmanager
def _transform() -> Iterator[None]:
    state = tls.state
    state.transforms += 1
    try:
        with inference_mode(False), enable_grad():
            yield
    finally:
        state.transforms -= 1


def _records() -> bool:
    """Whether the code around a transform is recorded."""
    return tls.state.grad_mode and not tls.state.inference_mode


def _variable(value: object) -> Tensor:
    """What the function gets in the place of `value`: of it gradients can be asked for."""
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    if value.requires_grad:
        return value.view_as(value)
    return (value.clone() if value.is_inference() else value.detach()).requires_grad_()


def _lifted(tree: object) -> tuple[Any, list[Tensor], Any]:
    """A tree with variables in the place of its tensors; these, and the tree's form."""
    leaves, spec = tree_flatten(tree)
    variables = [_variable(leaf) for leaf in leaves]
    return tree_unflatten(variables, spec), variables, spec


def _result(value: object, variables: Sequence[Tensor], recorded: bool) -> Any:
    """A tensor as it leaves a transform: of its graph only what was recorded outside counts."""
    if not isinstance(value, Tensor):
        return value
    if not value.requires_grad or (recorded and _reaches_others(value, {id(one) for one in variables})):
        return value
    return value.detach()


def _reaches_others(value: Tensor, own: set[int]) -> bool:
    """Whether the graph of a tensor has a leaf that isn't one of the transform's own variables."""
    if value.grad_fn is None:
        return id(value) not in own
    waiting, seen = [value.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in own:
            return True
        waiting += [following for following, _ in node.next_functions]
    return False


def _leaving(tree: object, variables: Sequence[Tensor], recorded: bool) -> Any:
    return tree_map(lambda value: _result(value, variables, recorded), tree)


def _picked(args: Sequence[Any], argnums: ArgNums) -> Any:
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    return args[argnums] if isinstance(argnums, int) else tuple(args[number] for number in argnums)


def _replaced(args: Sequence[Any], argnums: ArgNums, values: Any) -> list[Any]:
    given = list(args)
    numbers, chosen = ((argnums,), (values,)) if isinstance(argnums, int) else (argnums, values)
    for number, value in zip(numbers, chosen, strict=True):
        given[number] = value
    return given


def _gradients(outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Tensor] | None) -> list[Tensor]:
    """Gradients, zeros where nothing depends on an input, which can be differentiated again."""
    from .autograd import grad as derive

    pairs = [(out, None if vectors is None else vectors[i]) for i, out in enumerate(outputs) if out.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(inputs)
    if pairs:
        vector = None if vectors is None else [given for _, given in pairs]
        found = derive([out for out, _ in pairs], inputs, vector, create_graph=True, allow_unused=True)
    zeros = FUNCTIONS["zeros_like"]
    return [zeros(given) if one is None else one for one, given in zip(found, inputs, strict=True)]


def grad_and_value(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `func`, which returns one number, and that number.

    With `has_aux`, `func` also returns something that isn't differentiated. The gradient has the form of the arguments
    `argnums`.
    """

    def wrapper(*args: object, **kwargs: object) -> Any:
        recorded = _records()
        with _transform():
            given, variables, spec = _lifted(_picked(args, argnums))
            output, aux = _with_aux(func(*_replaced(args, argnums, given), **kwargs), has_aux, "grad_and_value")
            call = "grad_and_value(f)(*args): Expected f(*args) to return a"
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{call} Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"{call} scalar Tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or "
                    "jacrev APIs instead?"
                )
            found = tree_unflatten(_gradients([output], variables, None), spec)
        found, output, aux = _leaving((found, output, aux), variables, recorded)
        return (found, (output, aux)) if has_aux else (found, output)

    return wrapper


def grad(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `func`, see `grad_and_value`."""
    both = grad_and_value(func, argnums, has_aux)

    def wrapper(*args: object, **kwargs: object) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def _with_aux(output: object, has_aux: bool, call: str) -> tuple[Any, Any]:
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{call}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return output


def vjp(func: Function, *primals: object, has_aux: bool = False) -> Any:
    """What `func` gives for the primals, and a function that multiplies a vector with its Jacobian."""
    recorded = _records()
    with _transform():
        given, variables, spec = _lifted(primals)
        output, aux = _with_aux(func(*given), has_aux, "vjp")
        leaves, out_spec = tree_flatten(output)

    def vjp_function(*cotangents: object) -> Any:
        vectors, _ = tree_flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        for i, (vector, leaf) in enumerate(zip(vectors, leaves, strict=True)):
            if vector.shape != leaf.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {vector.shape} and output[{i}] has a shape of "
                    f"{leaf.shape}."
                )
        now = _records()
        with _transform():
            found = tree_unflatten(_gradients(leaves, variables, vectors), spec)
        return _leaving(found, variables, now)

    shown = _leaving(tree_unflatten(leaves, out_spec), variables, recorded)
    return (shown, vjp_function, _leaving(aux, variables, recorded)) if has_aux else (shown, vjp_function)


def jvp(func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> Any:
    """What `func` gives, and the product of its Jacobian with the tangents."""
    recorded = _records()
    with _transform():
        given, variables, _ = _lifted(primals)
        output, aux = _with_aux(func(*given), has_aux, "jvp")
        leaves, spec = tree_flatten(output)
        along, _ = tree_flatten(tangents)
        # The derivative of J^T v by v, applied to the tangents: twice backward is once forward.
        dummies = [FUNCTIONS["zeros_like"](leaf).requires_grad_() for leaf in leaves]
        products = _gradients(leaves, variables, dummies)
        pushed = tree_unflatten(_gradients(products, dummies, along), spec)
    found = _leaving((tree_unflatten(leaves, spec), pushed), [*variables, *dummies], recorded)
    return (*found, _leaving(aux, variables, recorded)) if has_aux else found


def jacrev(func: Function, argnums: ArgNums = 0, *, has_aux: bool = False, **_: object) -> Function:
    """A function that gives the Jacobian of `func`: for each output and each of `argnums`, in their forms."""

    def wrapper(*args: object, **kwargs: object) -> Any:
        recorded = _records()
        with _transform():
            given, variables, spec = _lifted(_picked(args, argnums))
            output, aux = _with_aux(func(*_replaced(args, argnums, given), **kwargs), has_aux, "jacrev")
            leaves, out_spec = tree_flatten(output)
            found = tree_unflatten([tree_unflatten(_jacobian(leaf, variables), spec) for leaf in leaves], out_spec)
        found = _leaving(found, variables, recorded)
        return (found, _leaving(aux, variables, recorded)) if has_aux else found

    return wrapper


def _jacobian(output: Tensor, variables: Sequence[Tensor]) -> list[Tensor]:
    rows = [_gradients([element], variables, None) for element in output.reshape(-1).unbind()]
    stack = FUNCTIONS["stack"]
    shape = tuple(output.shape)
    return [
        stack([row[i] for row in rows]).reshape(*shape, *one.shape)
        if rows
        else FUNCTIONS["zeros"]((*shape, *one.shape))
        for i, one in enumerate(variables)
    ]


def jacfwd(func: Function, argnums: ArgNums = 0, has_aux: bool = False, **_: object) -> Function:
    """As `jacrev`; the Jacobian is the same, whichever way it is computed."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Function, argnums: ArgNums = 0) -> Function:
    """A function that gives the second derivatives of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(
    func: Function,
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """A function that calls `func` for each element of a batch, and stacks what it gives.

    `in_dims` says for each argument which dimension is the batch's (None: none), as a number or in the arguments' form.
    ValueError where these don't fit; RuntimeError for a random op, unless `randomness` is "same" or "different".
    """

    def wrapper(*args: object, **kwargs: object) -> Any:
        name = getattr(func, "__name__", repr(func))
        leaves, dims, spec = _batched(args, in_dims, name)
        sizes = {leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None}
        if len(sizes) > 1:
            shown = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {shown} for the "
                "mapped dimension"
            )
        outputs = []
        for i in range(sizes.pop()):
            one = [leaf if dim is None else leaf.select(dim, i) for leaf, dim in zip(leaves, dims, strict=True)]
            outputs.append(_call_once(func, tree_unflatten(one, spec), kwargs, randomness, is_first=i == 0))
        return _stacked(outputs, out_dims, name)

    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    return wrapper


def _vmap(func: Function, in_dims: object = 0, out_dims: object = 0, allow_none_pass_through: bool = False) -> Function:
    """`torch._vmap_internals._vmap`, the older name. A result that is None is refused in any case."""
    return vmap(func, in_dims, out_dims)


def _call_once(func: Function, args: Any, kwargs: Any, randomness: str, is_first: bool) -> Any:
    before = default_generator.get_state()
    output = func(*args, **kwargs)
    if is_first and randomness == "error" and not bool((before == default_generator.get_state()).all()):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )
    if randomness == "same":
        default_generator.set_state(before)
    return output


def _batched(args: tuple[Any, ...], in_dims: object, name: str) -> tuple[list[Any], list[int | None], Any]:
    """The leaves of the arguments, the batch's dimension of each, and the form of the arguments."""
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    leaves, spec = tree_flatten(args)
    spread = _spread(in_dims, args)
    if spread is None or len(spread) != len(leaves):
        raise ValueError(f"{call}: in_dims is not compatible with the structure of `inputs`.")
    dims: list[int | None] = []
    for leaf, dim in zip(leaves, spread, strict=True):
        if dim is not None and not isinstance(leaf, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        if dim is not None and not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} "
                f"so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        dims.append(dim)
    if all(dim is None for dim in dims):
        raise ValueError(f"{call}: at least one input must have a batch dimension")
    return leaves, dims, spec


def _spread(dims: object, tree: object) -> list[Any] | None:
    """One entry for each leaf of the tree; None where the forms differ."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(tree_flatten(tree)[0])
    if isinstance(dims, dict) and isinstance(tree, dict) and dims.keys() == tree.keys():
        parts = [_spread(dims[key], tree[key]) for key in tree]
    elif isinstance(dims, tuple | list) and isinstance(tree, tuple | list) and len(dims) == len(tree):
        parts = [_spread(one, inner) for one, inner in zip(dims, tree, strict=True)]
    else:
        return None
    return None if any(part is None for part in parts) else [one for part in parts for one in part or ()]


def _stacked(outputs: list[Any], out_dims: object, name: str) -> Any:
    columns = [tree_flatten(output)[0] for output in outputs]
    for leaf in columns[0]:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean to set "
                "out_dims= to None for output?"
            )
    _, spec = tree_flatten(outputs[0])
    dims = _spread(out_dims, outputs[0])
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of outputs."
        )
    stack = FUNCTIONS["stack"]
    joined = [
        columns[0][i] if dim is None else stack([column[i] for column in columns], dim) for i, dim in enumerate(dims)
    ]
    return tree_unflatten(joined, spec)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of modules of one class, stacked: what `vmap` over `functional_call` takes.

    RuntimeError without a module, or where they differ in class or mode.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = _all_stacked([dict(model.named_parameters()) for model in models])
    buffers = _all_stacked([dict(model.named_buffers()) for model in models])
    return {name: one.detach().requires_grad_(one.requires_grad) for name, one in parameters.items()}, buffers


def _all_stacked(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: FUNCTIONS["stack"]([state[name] for state in states]) for name in states[0]}


def functional_call(
    module: object,
    parameter_and_buffer_dicts: dict[str, Any] | Sequence[dict[str, Any]],
    args: object = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with these tensors by their dotted names; afterwards it has its own again.

    With `tie_weights` a tensor that the module has under several names is replaced under all of them. RuntimeError
    with `strict` when names are missing or unknown; ValueError when one name, or one tensor, is given several.
    """
    from .nn.utils.stateless import _functional_call

    given = _joined(parameter_and_buffer_dicts)
    return _functional_call(
        module, given, args, None if kwargs is None else dict(kwargs), tie_weights=tie_weights, strict=strict
    )


def _joined(dicts: object) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(one, dict) for one in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(name for one in dicts for name in one)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for one in dicts for name, tensor in one.items()}


__getattr__ = refuses_missing("torch.func")
