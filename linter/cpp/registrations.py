"""Which functions a file gives to PyTorch's dispatcher, and under which dispatch key.

Read on the text, not on the tree: `TORCH_LIBRARY_IMPL(…) { … }` is a macro whose body the grammar often
loses, and the calls in it have a fixed shape. Reference: torch/library.h, ATen/core/op_registration.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Registration, Span
from .mask import closing

_LIBRARY = re.compile(
    rb"\bTORCH_LIBRARY(?P<kind>_IMPL|_FRAGMENT|_FRAGMENT_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY)?\s*\("
)
_KEY = re.compile(rb"\b(?:c10::|at::)?DispatchKey::(\w+)|\bTensorTypeId::(\w+)|\bk(CPU|CUDA|Autograd\w*)\b")
_METHOD = re.compile(rb"\b(?P<variable>\w+)\s*\.\s*(?P<method>impl|def|impl_UNBOXED|fallback)\s*\(")
_SHORT_MACRO = re.compile(rb"\bDISPATCH_TO_(?P<key>\w+)\s*\(")
_OPERATORS = re.compile(rb"\bRegisterOperators\b")
_KERNEL = re.compile(
    rb"\.\s*(?:template\s+)?(?:kernel|catchAllKernel|impl_unboxedOnlyKernel|impl_unboxedOnlyCatchAllKernel)\s*<(?P<types>[^;{}]*?)>\s*\((?P<arguments>[^()]*)\)"
)
_WRAPPER = re.compile(
    rb"^\s*(?:TORCH_FN(?:_TYPE)?|torch::CppFunction(?:::\w+)?|(?:torch::)?dispatch|(?:c10::)?(?:torch::)?schema|CppFunction::\w+)\s*\("
)
_NAME = re.compile(rb"^&?\s*(?:::)?([A-Za-z_]\w*(?:(?:<[^<>()]*>)?::~?[A-Za-z_]\w*)*)\s*(?:<[^()]*>)?$")


def find_registrations(text: bytes, code: bytes) -> tuple[Registration, ...]:
    """`code` is `text` with comments and string contents blanked."""
    return (*_libraries(text, code), *_operators(text, code))


def _libraries(text: bytes, code: bytes) -> Iterator[Registration]:
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
        yield from _in_library(text, code, brace.end(), stop - 1, namespace, key)


def _in_library(text: bytes, code: bytes, start: int, end: int, namespace: str, key: str) -> Iterator[Registration]:
    for call in _METHOD.finditer(code, start, end):
        stop = closing(code, call.end() - 1)
        if stop is None:
            continue
        pieces = split_arguments(code, call.end(), stop - 1)
        operator = _operator(text, pieces[0]) if pieces else ""
        functions = pieces[1:] if call["method"] != b"fallback" else pieces
        if not functions:
            continue
        own_key, function = _unwrap(b",".join(code[low:high] for low, high in functions))
        yield Registration(function, own_key or key, operator, namespace, Span(call.start(), stop))
    for call in _SHORT_MACRO.finditer(code, start, end):
        stop = closing(code, call.end() - 1)
        pieces = split_arguments(code, call.end(), stop - 1) if stop else []
        if stop is None or len(pieces) < 2:
            continue
        _, function = _unwrap(code[slice(*pieces[-1])])
        short = call["key"].decode()
        full = "Autograd" if short.upper().startswith("AUTOGRAD") else short
        yield Registration(function, full, _operator(text, pieces[0]), namespace, Span(call.start(), stop))


def _operators(text: bytes, code: bytes) -> Iterator[Registration]:
    """`RegisterOperators().op("ns::op", …kernel<…>(DispatchKey::X))` and its older forms."""
    end = 0
    for head in _OPERATORS.finditer(code):
        if head.start() < end:
            continue  # `RegisterOperators::options()` inside a statement that was read
        end = code.find(b";", head.end())
        end = len(code) if end < 0 else end
        # A braced lambda among the arguments holds semicolons of its own.
        brace = code.find(b"{", head.end(), end)
        while brace >= 0:
            stop = closing(code, brace)
            if stop is None:
                break
            end = max(end, code.find(b";", stop))
            brace = code.find(b"{", stop, end)
        statement = code[head.end() : end]
        for kernel in _KERNEL.finditer(statement):
            pieces = kernel["types"].split(b",")
            key = _KEY.search(kernel["arguments"])
            name = _NAME.match(pieces[-1].strip())
            function = name.group(1).decode() if name else ""
            start = head.end() + kernel.start()
            operator = _last_operator(text[head.end() : start])
            yield Registration(function, _key_name(key), operator, "", Span(start, head.end() + kernel.end()))
        for call in re.finditer(rb"(?:^\s*(?:\w+\s*)?|\.\s*op\s*)\(", statement):
            opening = head.end() + call.end() - 1
            stop = closing(code, opening)
            if stop is None:
                continue
            pieces = split_arguments(code, opening + 1, stop - 1)
            if len(pieces) == 2 and b"kernel" not in code[slice(*pieces[1])].lower():
                own_key, given = _unwrap(code[slice(*pieces[1])])
                if given or code[slice(*pieces[1])].lstrip().startswith(b"["):
                    yield Registration(given, own_key, _operator(text, pieces[0]), "", Span(opening, stop))


def _unwrap(argument: bytes) -> tuple[str, str]:
    """(dispatch key, function) of the last argument of `impl` or `def`."""
    key = _KEY.search(argument)
    argument = argument.strip()
    while (wrapper := _WRAPPER.match(argument)) is not None:
        stop = closing(argument, wrapper.end() - 1)
        argument = argument[wrapper.end() : (stop or len(argument)) - 1].strip()
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


def split_arguments(code: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the comma-separated pieces of code[start:end]; angle brackets are not counted."""
    pieces = []
    low = position = start
    pattern = re.compile(rb"[(\[{,]")
    while (match := pattern.search(code, position, end)) is not None:
        if match.group() == b",":
            pieces.append((low, match.start()))
            low = position = match.end()
        else:
            stop = closing(code, match.start())
            position = min(end, stop) if stop is not None else end
    if code[low:end].strip():
        pieces.append((low, end))
    return pieces
