"""Which functions a file gives to PyTorch's dispatcher, and under which dispatch key.

Read on the text, not on the tree: `TORCH_LIBRARY_IMPL(…) { … }` is a macro whose body the grammar often
loses, and the calls in it have a fixed shape. Reference: torch/library.h, ATen/core/op_registration.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts import Registration, Span
from ...lazy_regex import lazy_regex
from .cpp_expressions import path_of
from .cpp_masking import closing, code_only
from .macro_expansion import Macros, definitions, expansions, split_arguments, without_directives

_LIBRARY = lazy_regex(
    rb"\bTORCH_LIBRARY(?P<kind>_IMPL|_FRAGMENT|_FRAGMENT_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY)?\s*\("
)
# A function that is given a library: `void register_ops(torch::Library& m`.
_TAKES_LIBRARY = lazy_regex(
    rb"\b(?P<function>\w+)\s*(?P<opening>\()[^(){};]*\b(?:torch::)?Library\s*&{1,2}\s*\w+\s*[,)]"
)
# A library that is a variable: `torch::Library m(…)`, `auto m = torch::import(…)`.
_LIBRARY_VARIABLE = lazy_regex(
    rb"\btorch::Library\s+(?P<declared>\w+)\s*(?=[({])"
    rb"|\b(?P<given>\w+)\s*=\s*(?:(?:torch|c10)::import|(?:torch::)?Library|MAKE_TORCH_LIBRARY(?:_IMPL)?)\s*(?=\()"
)
_VARIABLE_HINTS = (b"Library", b"::import", b"MAKE_TORCH_LIBRARY")
_MADE_FOR = lazy_regex(rb"\bMAKE_TORCH_LIBRARY_IMPL\s*\([^,()]*,\s*(\w+)\s*\)")
_IMPORTED = lazy_regex(rb"\b(?:torch|c10)::import\s*(?=\()")
_KEY = lazy_regex(rb"\b(?:c10::|at::)?DispatchKey::(\w+)|\bTensorTypeId::(\w+)|\bk(CPU|CUDA|Autograd\w*)\b")
_METHOD = lazy_regex(rb"\.\s*(?P<method>impl|def|impl_UNBOXED|fallback)\s*\(")
# A class for TorchScript, whose methods aren't ops: `m.class_<Engine>("Engine").def("run", &Engine::run)`.
_CLASS = lazy_regex(rb"(?:\b(?P<variable>\w+)\s*=\s*)?\b\w+\s*\.\s*class_\s*<")
_SHORT_MACRO = lazy_regex(rb"\bDISPATCH_TO_(?P<key>\w+)\s*\(")
# A statement that is one macro, of which nothing is known but its arguments.
_FOREIGN_MACRO = lazy_regex(rb"(?<=[;{})\s])(?<!\.)(?P<name>[A-Z][A-Z0-9_]{2,})\s*\(")
_OPERATORS = lazy_regex(rb"\bRegisterOperators\b")
_WHOLE = lazy_regex(rb"\bTORCH_LIBRARY|\bRegisterOperators\b")
_KERNEL = lazy_regex(
    rb"\.\s*(?:template\s+)?(?:kernel|catchAllKernel|impl_unboxedOnlyKernel|impl_unboxedOnlyCatchAllKernel)\s*<(?P<types>[^;{}]*?)>\s*\((?P<arguments>[^()]*)\)"
)
_GIVEN_KERNEL = lazy_regex(rb"\.\s*(?:kernel|catchAllKernel)\s*\(")
# `torch::CppFunction::makeFromBoxedFunction<&f>()`: the function is a template argument.
_TEMPLATED = lazy_regex(rb"(?:\w+::)*(?:makeFrom\w+|make_unique|TORCH_FN_TYPE)\s*<(?P<types>[^;{}()]*)>\s*\(\s*\)")
_WRAPPER = lazy_regex(
    rb"^\s*(?:TORCH_FN(?:_TYPE)?|(?:torch::)?CppFunction(?:::\w+)?|(?:torch::)?dispatch|(?:c10::)?(?:torch::)?schema)\s*\("
)
_TEMPLATE_ARGUMENTS = lazy_regex(rb"(?<=\w)\s*<[^<>();{}]*>")
_NAME = lazy_regex(rb"^&?\s*(?:::)?([A-Za-z_]\w*(?:(?:<[^<>()]*>)?::~?[A-Za-z_]\w*)*)\s*(?:<[^()]*>)?$")


def find_registrations(text: bytes, code: bytes) -> tuple[Registration, ...]:
    """`code` is `text` with comments and string contents blanked."""
    macros = definitions(text, code)
    if macros:
        code = without_directives(code)  # a macro's body registers what its invocations say
    found = [*_libraries(text, code, macros), *_variables(text, code), *_operators(text, code)]
    for place, expanded in _whole_registrations(text, code, macros):
        inner = code_only(expanded)
        made = (*_libraries(expanded, inner, {}), *_operators(expanded, inner))
        found += [registration._replace(span=place) for registration in made]
    return tuple(found)


def _whole_registrations(text: bytes, code: bytes, macros: Macros) -> Iterator[tuple[Span, bytes]]:
    """Invocations of the file's macros that become `TORCH_LIBRARY_IMPL(…) { … }` and the like."""
    for place, expanded in expansions(text, code, Span(0, len(code)), macros, _WHOLE):
        if _WHOLE.search(expanded):
            yield place, expanded


def _libraries(text: bytes, code: bytes, macros: Macros) -> Iterator[Registration]:
    """What `TORCH_LIBRARY(…)` blocks register, and the functions that are given a library, by these or by others."""
    takers = list(_takers(code))
    asked = set()
    for head in _LIBRARY.finditer(code):
        end = closing(code, head.end() - 1)
        if end is None:
            continue
        arguments = [piece.strip() for piece in code[head.end() : end - 1].split(b",")]
        namespace = arguments[0].decode("utf-8", "replace")
        key = arguments[1].decode() if head["kind"] == b"_IMPL" and len(arguments) > 1 else ""
        brace = re.compile(rb"\s*\{").match(code, end)
        stop = closing(code, brace.end() - 1) if brace else None
        if brace is None or stop is None:
            continue
        block = Span(brace.end(), stop - 1)
        yield from _calls(text, code, block, namespace, key)
        yield from _macro_statements(text, code, block, macros, namespace, key)
        for function, body in takers:
            if re.search(rb"(?<![\w.])" + function + rb"\s*\(\s*" + arguments[-1] + rb"\s*[,)]", code[slice(*block)]):
                asked.add(body)
                yield from _calls(text, code, body, namespace, key)
    for _, body in takers:
        if body not in asked:
            yield from _calls(text, code, body, "", "")


def _takers(code: bytes) -> Iterator[tuple[bytes, Span]]:
    """(name, body) of the functions that are given a `torch::Library&`."""
    if b"Library" not in code:
        return
    for match in _TAKES_LIBRARY.finditer(code):
        end = closing(code, match.start("opening"))
        brace = re.compile(rb"\s*(?:noexcept\s*)?\{").match(code, end) if end is not None else None
        stop = closing(code, brace.end() - 1) if brace is not None else None
        if brace is not None and stop is not None:
            yield match["function"], Span(brace.end(), stop - 1)


def _variables(text: bytes, code: bytes) -> Iterator[Registration]:
    """Registrations through a `torch::Library` that is a variable, or that `torch::import` gives."""
    if not any(hint in code for hint in _VARIABLE_HINTS):
        return
    for match in _LIBRARY_VARIABLE.finditer(code):
        end = closing(code, match.end())
        if end is None:
            continue
        made = code[match.start() : end]
        key = _MADE_FOR.search(made) or _KEY.search(made)
        name = match["declared"] or match["given"]
        for statement in _statements_on(name, code, Span(end, len(code))):
            yield from _calls(text, code, statement, "", _key_name(key))
    for match in _IMPORTED.finditer(code):
        end = closing(code, match.end())
        if end is not None:
            yield from _calls(text, code, Span(end, _statement_end(code, end)), "", "")


def _statements_on(variable: bytes, code: bytes, span: Span) -> Iterator[Span]:
    """The statements that call a method of a variable, each from after its name."""
    for place in re.compile(rb"\b" + variable + rb"\s*(?=\.)").finditer(code, *span):
        yield Span(place.end(), _statement_end(code, place.end()))


def _statement_end(code: bytes, start: int) -> int:
    """Where the statement ends; a braced lambda among its arguments holds its own semicolons."""
    position = start
    while (match := re.compile(rb"[(\[{};]").search(code, position)) is not None:
        stop = closing(code, match.start()) if match.group() in b"([{" else None
        if stop is None:
            return match.start()
        position = stop
    return len(code)


def _calls(text: bytes, code: bytes, span: Span, namespace: str, key: str) -> Iterator[Registration]:
    """The calls `m.impl(…)`, also those of a chain."""
    of_classes = list(_of_classes(code, span))
    for call in _METHOD.finditer(code, *span):
        stop = closing(code, call.end() - 1)
        if stop is None or any(one.start <= call.start() < one.end for one in of_classes):
            continue
        pieces = split_arguments(code, call.end(), stop - 1)
        operator = _operator(text, pieces[0]) if pieces else ""
        functions = pieces[1:] if call["method"] != b"fallback" else pieces
        if not functions:
            continue
        own_key, function = _unwrap(b",".join(code[low:high] for low, high in functions))
        yield Registration(path_of(function), own_key or key, operator, namespace, Span(call.start(), stop))


def _of_classes(code: bytes, span: Span) -> Iterator[Span]:
    """The statements that define classes for TorchScript."""
    for match in _CLASS.finditer(code, *span):
        yield Span(match.start(), _statement_end(code, match.end()))
        if match["variable"]:
            yield from _statements_on(match["variable"], code, Span(match.end(), span.end))


def _macro_statements(
    text: bytes, code: bytes, block: Span, macros: Macros, namespace: str, key: str
) -> Iterator[Registration]:
    """Registrations by macros: the file's own are expanded; of others the last argument is the function."""
    for place, expanded in expansions(text, code, block, macros, _METHOD):
        inner = code_only(expanded)
        for registration in _calls(expanded, inner, Span(0, len(expanded)), namespace, key):
            yield registration._replace(span=place)
    for call in _FOREIGN_MACRO.finditer(code, *block):
        stop = closing(code, call.end() - 1)
        pieces = split_arguments(code, call.end(), stop - 1) if stop else []
        before = code[block.start : call.start()].rstrip()[-1:]
        if stop is None or len(pieces) < 2 or call["name"] in macros or before not in (b"", b";", b")", b"}", b"{"):
            continue
        own_key, function = _unwrap(code[slice(*pieces[-1])])
        short = _SHORT_MACRO.match(code, call.start())
        if short is not None:
            own_key = short["key"].decode()
            own_key = "Autograd" if own_key.upper().startswith("AUTOGRAD") else own_key
        if function:
            yield Registration(
                path_of(function), own_key or key, _operator(text, pieces[0]), namespace, Span(call.start(), stop)
            )


def _operators(text: bytes, code: bytes) -> Iterator[Registration]:
    """`RegisterOperators().op("ns::op", …kernel<…>(DispatchKey::X))` and its older forms."""
    end = 0
    for head in _OPERATORS.finditer(code):
        if head.start() < end:
            continue  # `RegisterOperators::options()` inside a statement that was read
        end = _statement_end(code, head.end())
        statement = code[head.end() : end]
        for kernel in _KERNEL.finditer(statement):
            pieces = kernel["types"].split(b",")
            key = _KEY.search(kernel["arguments"])
            name = _NAME.match(pieces[-1].strip())
            function = name.group(1).decode() if name else ""
            start = head.end() + kernel.start()
            operator = _last_operator(text[head.end() : start])
            yield Registration(path_of(function), _key_name(key), operator, "", Span(start, head.end() + kernel.end()))
        for kernel in _GIVEN_KERNEL.finditer(code, head.end(), end):
            stop = closing(code, kernel.end() - 1)
            if stop is not None:  # `.kernel(key, &f)`, `.catchAllKernel([](…) { … })`
                own_key, function = _unwrap(code[kernel.end() : stop - 1])
                operator = _last_operator(text[head.end() : kernel.start()])
                yield Registration(path_of(function), own_key, operator, "", Span(kernel.start(), stop))
        for call in re.finditer(rb"(?:^\s*(?:\w+\s*)?|\.\s*op\s*)\(", statement):
            opening = head.end() + call.end() - 1
            stop = closing(code, opening)
            if stop is None:
                continue
            pieces = split_arguments(code, opening + 1, stop - 1)
            if len(pieces) == 2 and b"kernel" not in code[slice(*pieces[1])].lower():
                own_key, given = _unwrap(code[slice(*pieces[1])])
                if given or code[slice(*pieces[1])].lstrip().startswith(b"["):
                    yield Registration(path_of(given), own_key, _operator(text, pieces[0]), "", Span(opening, stop))


def _unwrap(argument: bytes) -> tuple[str, str]:
    """(dispatch key, function) of the last argument of `impl` or `def`."""
    key = _KEY.search(argument)
    argument = argument.strip()
    templated = _TEMPLATED.search(argument)
    if templated is not None:
        # Of `<decltype(f), &f>` the last is the function; a functor's class is alone.
        name = _NAME.match(templated["types"].split(b",")[-1].strip())
        return _key_name(key), name.group(1).decode("utf-8", "replace") if name else ""
    while (wrapper := _WRAPPER.match(argument)) is not None:
        stop = closing(argument, wrapper.end() - 1)
        argument = argument[wrapper.end() : (stop or len(argument)) - 1].strip()
    # Commas of template arguments aren't separators: `&pool<float, true>`.
    while (plain := _TEMPLATE_ARGUMENTS.sub(b"", argument)) != argument:
        argument = plain
    pieces = split_arguments(argument, 0, len(argument))
    for low, high in reversed(pieces):
        piece = argument[low:high].strip()
        wrapper = _WRAPPER.match(piece)
        if wrapper is not None:
            return _key_name(key), _unwrap(piece)[1]
        name = _NAME.match(piece)
        if name is not None and not _KEY.fullmatch(piece):
            return _key_name(key), name.group(1).decode("utf-8", "replace")
        if piece.startswith((b"static_cast", b"(")):
            last = re.search(rb"&?([A-Za-z_][\w:]*)\s*\)+$", piece)
            return _key_name(key), last.group(1).decode() if last else ""
    return _key_name(key), ""


def _key_name(match: re.Match[bytes] | None) -> str:
    return next((group.decode() for group in match.groups() if group), "") if match else ""


def _operator(text: bytes, piece: tuple[int, int]) -> str:
    match = re.search(rb'"([\w:.]+)', text[slice(*piece)])
    return match.group(1).decode("utf-8", "replace") if match else ""


def _last_operator(text: bytes) -> str:
    names = re.findall(rb'"([\w]+::[\w.]+)', text)
    return names[-1].decode() if names else ""
