"""A C++ file's bytes -> its file summary: the names it defines, and what it does with models, ops and gradients."""

from __future__ import annotations

import re
from collections import defaultdict

from ...facts.file_summary import FileSummary, Mention, Topic
from ...files.search import find
from ...files.sources import Source
from ...lazy_regex import lazy_regex
from .body_pruning import function_names
from .cpp_masking import code_only
from .guard_reach import STORED

# A pattern that begins with letters is looked for many times faster than one that begins with a choice or `\b`.
_CLASSES = tuple(
    lazy_regex(word + rb"\s+(?:[A-Z][A-Z0-9_]{2,}\s+)?(?:\w+::)*([A-Za-z_]\w*)\s*(?:final\s*)?(?=[:{])(?!::)")
    for word in (b"class", b"struct")
)

_PATTERNS: list[tuple[tuple[Topic, ...], bytes, re.Pattern[bytes]]] = []
"""What a match is about, a text that is in every match, the pattern. Most files hold none of these texts."""


def _about(hint: bytes, pattern: bytes, *topics: Topic) -> None:
    _PATTERNS.append((topics, hint, re.compile(pattern)))


_about(b"TORCH_LIBRARY", rb"TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?\s*\(", Topic.OP)
_about(b"RegisterOperators", rb"RegisterOperators\b", Topic.OP)
_about(b"Function", rb"(?:autograd::|public\s+|:\s*)Function\s*<", Topic.OP, Topic.AUTOGRAD)
_about(b"AutogradContext", rb"AutogradContext\b", Topic.OP, Topic.AUTOGRAD)
_about(b"DispatchKey", rb"\bDispatchKey(?:Set)?\b(?!Guard)", Topic.OP)
_about(b"collect_next_edges", rb"collect_next_edges\s*\(", Topic.OP, Topic.AUTOGRAD)
_about(b"OperatorHandle", rb"\bOperatorHandle\b", Topic.OP)
_about(b"jit::Stack", rb"jit::Stack\b", Topic.OP)
_about(b"Autograd", rb"(?:::|,\s*)Autograd(?:CPU|CUDA|XPU|MPS|PrivateUse\d|Other)?\b", Topic.AUTOGRAD)
_about(b"PYBIND11_MODULE", rb"PYBIND11_MODULE\s*\(", Topic.BINDING)
_about(b"TORCH_EXTENSION_NAME", rb"TORCH_EXTENSION_NAME\b", Topic.BINDING)
_about(b"PyInit_", rb"\bPyInit_\w+", Topic.BINDING)
_about(b"backward", rb"(?:\.|->)backward\s*\(", Topic.GRADIENT)
_about(b"autograd::", rb"autograd::(?:grad|backward)\s*\(", Topic.GRADIENT)
_about(b"requires_grad", rb"\b(?:set_)?requires_grad_?\s*\(\s*(?:true\s*)?\)(?<!requires_grad\(\))", Topic.GRADIENT)
_about(b"optim::", rb"\boptim::\w+", Topic.GRADIENT)
_about(b"jit::load", rb"\bjit::(?:_?load\w*|pickle_load|import_ir_module)\s*\(", Topic.LOAD)
_about(b"torch::load", rb"\btorch::load\s*\(", Topic.LOAD)
_about(b"torch::pickle_load", rb"\btorch::pickle_load\s*\(", Topic.LOAD)
_about(b"_load_for_", rb"\b_load_for_(?:mobile|lite_interpreter)\s*\(", Topic.LOAD)
_about(b"AOTIModel", rb"\bAOTIModel\w+", Topic.LOAD)
_about(b"load_method", rb"(?:\.|->)load_method\s*\(", Topic.LOAD)
_about(b"loadPickle", rb"(?:\.|->)loadPickle\s*\(", Topic.LOAD)
_about(b"forward", rb"(?:\.|->)forward(?:_\w+)?\s*\(", Topic.RUN)
_about(b"run_method", rb"(?:\.|->)run_method\s*\(", Topic.RUN)
_about(b"get_method", rb"(?:\.|->)get_method\s*\(", Topic.RUN)
_about(b"runMethod", rb"(?:\.|->)runMethod\s*\(", Topic.RUN)
_about(b"acquireSession", rb"(?:\.|->)acquireSession\s*\(", Topic.RUN)
_about(b"at::Tensor", rb"at::Tensor\b(?<!\wat::Tensor)", Topic.TENSOR)
_about(b"torch::Tensor", rb"torch::Tensor\b(?<!\wtorch::Tensor)", Topic.TENSOR)


def summarize_cpp(source: Source) -> FileSummary:
    """What the file defines and mentions, outside comments and strings."""
    text = source.text
    code = code_only(text)
    seen: dict[Topic, list[tuple[int, bytes]]] = defaultdict(list)
    for topics, hint, pattern in _PATTERNS:
        if find(text, hint, 0, len(text)) >= 0:
            found = [(match.start(), match.group()) for match in pattern.finditer(code)]
            for topic in topics if found else ():
                seen[topic] += found
    mentions = {}
    for topic, places in seen.items():
        place, written = min(places)
        shown = " ".join(written.decode("utf-8", "replace").split()).rstrip("( <").lstrip(".->: ")
        mentions[topic] = Mention(len(places), place, text.count(b"\n", 0, place) + 1, shown)
    classes = frozenset(match[1].decode("utf-8", "replace") for kind in _CLASSES for match in kind.finditer(code))
    stored = {match[1].decode("utf-8", "replace") for match in STORED.finditer(code)}
    return FileSummary(source.path, function_names(code) | stored, classes, mentions)
