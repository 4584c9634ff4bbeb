"""The facts that a decision needs, of a Python file that holds the old guard: calls, assignments, registrations."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ...facts import Assignment, Call, Facts, Registration, Return, Span
from ...facts.expressions import CallExpression
from .name_resolution import Scope, resolve
from .parsed_module import Module
from .python_expressions import PythonExpressionReader, operator_of
from .syntax_walking import walk

_NAMES = (ast.Name, ast.Attribute)


def read_program(
    facts: Facts,
    module: Module,
    nodes: Sequence[ast.FunctionDef | ast.AsyncFunctionDef],
    reader: PythonExpressionReader,
) -> Facts:
    """`facts` with the file's calls, assignments, returns and registrations; `nodes` are those of its functions."""
    calls: list[Call] = []
    assignments: list[Assignment] = []
    returns: list[Return] = []
    registrations: list[Registration] = list(_registrations(module))
    scopes: dict[int | None, Scope] = {None: module.scope}

    begins = [function.body.start for function in facts.functions]  # ascending: a function comes before those in it

    def scope_of(function: int | None) -> Scope:
        if function not in scopes:
            assert function is not None
            scopes[function] = scope_of(facts.functions[function].parent).inside(nodes[function])
        return scopes[function]

    def function_at(span: Span) -> int | None:
        index: int | None = bisect_right(begins, span.start) - 1
        while index is not None and index >= 0 and not facts.functions[index].body.holds(span):
            index = facts.functions[index].parent
        return index if index is not None and index >= 0 else None

    for node in walk(module.tree):
        if not isinstance(node, (ast.Call, ast.Assign, ast.AugAssign, ast.Return)):
            continue
        span = module.span(node)
        function = function_at(span)
        scope = scope_of(function)
        if isinstance(node, ast.Call):
            called = reader.read(node, scope)
            assert isinstance(called, CallExpression)
            calls.append(Call(called, span, function))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
                    given = reader.read(node.value, scope)
                    assignments.append(Assignment(reader.read(target, scope), False, "=", given, span, function))
        elif isinstance(node, ast.AugAssign):
            target_, given = reader.read(node.target, scope), reader.read(node.value, scope)
            assignments.append(Assignment(target_, False, operator_of(node.op) + "=", given, span, function))
        else:
            value = reader.read(node.value, scope) if node.value is not None else None
            returns.append(Return(value, span, function))
    return replace(
        facts,
        calls=tuple(sorted(calls, key=lambda call: call.span)),
        assignments=tuple(sorted(assignments, key=lambda assignment: assignment.span)),
        returns=tuple(sorted(returns, key=lambda returned: returned.span)),
        registrations=tuple(registrations),
    )


def _registrations(module: Module) -> Iterator[Registration]:
    """Functions given to the dispatcher: `torch.library.impl(…)`, `Library.impl`, `custom_op`, `register_kernel`."""
    for node in walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield from _registered(decorator, node.name, module)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = [a.id if isinstance(a, ast.Name) else a.attr for a in node.args if isinstance(a, _NAMES)]
            if node.func.attr == "impl" and _strings(node):
                # `lib.impl("op", fn, "Autograd")`
                for name in names[-1:]:
                    yield from _registered(node, name, module)
            elif node.func.attr in ("register_autograd", "register_kernel") and names:
                yield from _registered(node, names[-1], module)


def _strings(call: ast.Call) -> list[str]:
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]


def _registered(call: ast.Call, function: str, module: Module) -> Iterator[Registration]:
    func = call.func
    last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    strings = _strings(call)
    if last == "impl":
        operator = next((text for text in strings if not _is_key(text)), "")
        key = next((text for text in strings if _is_key(text)), "")
    elif last == "register_kernel":
        operator, key = (strings[0] if strings else ""), "CPU"
    elif last == "register_autograd":
        operator, key = (strings[0] if strings else ""), "Autograd"
    elif last == "custom_op":
        operator, key = (strings[0] if strings else ""), ""
    else:
        return
    name = resolve(func, module.scope)
    from_torch = name is None or name.startswith(("torch.", "guardfix.")) or last == "impl"
    if from_torch and (operator or last == "impl"):
        namespace = operator.partition("::")[0] if "::" in operator else ""
        yield Registration((function,), key, operator, namespace, module.span(call))


def _is_key(text: str) -> bool:
    return (text[:1].isupper() and text.isalnum()) or text in ("cpu", "cuda", "default")
