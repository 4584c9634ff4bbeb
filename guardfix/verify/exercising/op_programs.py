"""Small programs around one call of an op: forward, what is done with the result, backward, and backward of that.

Each program is text, so that what is run is what is shown. Every choice has a plainest form, which adds no line; a
program that shows a difference is shrunk to those that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .op_inputs import LEFT_OUT, Candidate, Input, PlainInput, TensorInput
from .op_signatures import CallableOp

CALL_MODES = ("", "torch.no_grad()", "torch.inference_mode()", "torch.enable_grad()")
PLAIN, LEAF, COMPUTED, VIEW = "plain", "leaf", "computed", "view"
ROLES = (PLAIN, LEAF, COMPUTED, VIEW)
"""What a floating-point input is: without a history, a leaf that requires grad, computed from one, a view of that."""
BACKWARDS = ("none", "backward", "double")
USES = ("nothing", "changed in place", "saved for backward")
"""What is done with the result outside of the mode."""


@dataclass(frozen=True)
class OpProgram:
    """The choices that make one program."""

    inputs: Candidate
    roles: tuple[str, ...] = ()
    """One for each argument."""
    values: str = "rising"
    mode: str = ""
    kept: bool = False
    """An input is saved for backward before the call: a write to it that is not counted shows in the gradient."""
    use: str = "nothing"
    backward: str = "none"

    def role(self, position: int) -> str:
        return self.roles[position] if position < len(self.roles) else PLAIN


def program_text(op: CallableOp, program: OpProgram, results: Sequence[str] | None, *, observed: bool = True) -> str:
    """The lines of a program. `results` says what the call gives (see `ProgramServer.run`).

    Without `observed` it ends with the call.
    """
    return "\n".join(_lines(op, program, results, observed=observed)) + "\n"


def _lines(op: CallableOp, program: OpProgram, results: Sequence[str] | None, *, observed: bool) -> Iterator[str]:
    leaves: list[str] = []
    history: list[str] = []  # floating-point inputs that gradients flow through
    given: list[str] = []
    for position, (argument, one) in enumerate(zip(op.arguments, program.inputs, strict=True)):
        if one == LEFT_OUT:
            continue
        name = _variable(argument.name)
        if isinstance(one, TensorInput):
            role = program.role(position) if one.is_float else PLAIN
            value = tensor_expression(one, program.values)
            if role == PLAIN:
                yield f"{name} = {value}"
            elif role == LEAF:
                yield f"{name} = {value}.requires_grad_()"
                leaves.append(name)
            else:
                yield f"{name}_leaf = {value}.requires_grad_()"
                yield f"{name} = {name}_leaf * 1"
                if role == VIEW:
                    yield f"{name} = {name}.view_as({name})"
                leaves.append(f"{name}_leaf")
            if role != PLAIN:
                history.append(name)
            text = name
        else:
            text = _plain(one, program.values)
        by_name = argument.keyword_only or len(given) < position
        given.append(f"{argument.name}={text}" if by_name else text)
    saved = program.kept and bool(history)
    if saved:
        yield f"kept = {history[0]} * {history[0]}"
    call = f"y = {op.call}({', '.join(given)})"
    if program.mode:
        yield f"with {program.mode}:"
        yield f"    {call}"
    else:
        yield call
    if observed:
        yield from _observations(program, results, history, leaves, saved=saved)


def _observations(
    program: OpProgram, results: Sequence[str] | None, history: Sequence[str], leaves: Sequence[str], *, saved: bool
) -> Iterator[str]:
    floats: list[str] = []
    if results is None:
        # The call changes its arguments, or gives what is not a tensor.
        yield "print(y)"
        floats += history[:1]
    elif results[0] == "several":
        tensors = [f"y[{number}]" for number, kind in enumerate(results[1:]) if kind != "other"]
        floats += [f"y[{number}]" for number, kind in enumerate(results[1:]) if kind == "float"]
        yield f"print({', '.join(f'{name}.requires_grad, {name}.tolist()' for name in tensors) or 'len(y)'})"
    else:
        yield "print(y.requires_grad, y.tolist())"
        floats += ["y"] if results[0] == "float" else []
    for name in history[:1] if floats != list(history[:1]) else ():
        yield f"print({name}.tolist())"
    if program.use == "changed in place" and floats:
        yield f"{floats[0]}.add_(1)"
    factor = "v" if program.use == "saved for backward" and floats else ""
    if factor:
        yield f"v = torch.full_like({floats[0]}, 2.0, requires_grad=True)"
        leaves = [*leaves, "v"]
    if program.backward == "none" or not leaves:
        return
    terms = [f"({name} * {factor or name}).sum()" for name in floats[:1]]
    terms += [f"({name} * {name}).sum()" for name in floats[1:]]
    terms += ["kept.sum()"] if saved else []
    if not terms:
        return
    yield f"loss = {' + '.join(terms)}"
    wanted = ", ".join(leaves)
    if program.backward == "backward":
        yield "loss.backward()"
        yield f"print([t.grad.tolist() for t in [{wanted}] if t.grad is not None])"
        return
    yield f"grads = torch.autograd.grad(loss, [{wanted}], create_graph=True, allow_unused=True)"
    yield "sum((g * g).sum() for g in grads if g is not None).backward()"
    yield f"print([t.grad.tolist() for t in [{wanted}] if t.grad is not None])"


def _variable(name: str) -> str:
    return f"{name}_" if name in ("y", "v", "torch", "kept", "loss", "grads", "input_leaf") else name


def _plain(one: Input, values: str) -> str:
    if isinstance(one, PlainInput):
        return one.text
    assert isinstance(one, tuple)
    return f"[{', '.join(tensor_expression(tensor, values) for tensor in one)}]"


def tensor_expression(tensor: TensorInput, values: str = "rising") -> str:
    """A tensor with these sizes, as it is written in Python. `values` is `rising` or `signed`."""
    count, sizes, dtype = tensor.numel, tensor.sizes, tensor.dtype
    shape = f".reshape({', '.join(map(str, sizes))})" if len(sizes) != 1 and sizes else ""
    if tensor.is_float:
        kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
        if not sizes:
            return f"torch.tensor(1.5{kind})"
        low, high = ("0.5", "2.0") if values == "rising" else ("-1.0", "1.5")
        return f"torch.linspace({low}, {high}, {count}{kind}){shape}"
    if not sizes:
        return f"torch.tensor({'True' if dtype == 'bool' else '1'}" + (
            ")" if dtype in ("bool", "int64") else f", dtype=torch.{dtype})"
        )
    if dtype == "bool":
        return f"(torch.arange({count}) % 2 == 0){shape}"
    kind = "" if dtype == "int64" else f", dtype=torch.{dtype}"
    return f"(torch.arange({count}{kind}) % {tensor.below}){shape}"
