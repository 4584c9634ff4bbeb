"""A C++ file's bytes -> its sketch: the names it defines, and what it does with models, ops and gradients."""

from __future__ import annotations

import re

from ...facts.sketch import Mention, Sketch, Topic
from ...files.search import find
from ...files.sources import Source
from ...lazy_regex import lazy_regex
from .cpp_masking import code_only
from .focus import function_names

# A pattern that begins with letters is looked for many times faster than one that begins with a choice or `\b`.
_CLASSES = tuple(
    lazy_regex(word + rb"\s+(?:[A-Z][A-Z0-9_]{2,}\s+)?(?:\w+::)*([A-Za-z_]\w*)\s*(?:final\s*)?(?=[:{])(?!::)")
    for word in (b"class", b"struct")
)

_PATTERNS: dict[Topic, tuple[tuple[bytes, re.Pattern[bytes]], ...]] = {}
"""Topic -> (a text that stands in every match, the pattern): most files hold none of these texts."""


def _about(topic: Topic, hint: bytes, pattern: bytes) -> None:
    _PATTERNS[topic] = (*_PATTERNS.get(topic, ()), (hint, re.compile(pattern)))


_about(Topic.OP, b"TORCH_LIBRARY", rb"TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?\s*\(")
_about(Topic.OP, b"RegisterOperators", rb"RegisterOperators\b")
_about(Topic.OP, b"Function", rb"(?:autograd::|public\s+|:\s*)Function\s*<")
_about(Topic.OP, b"AutogradContext", rb"AutogradContext\b")
_about(Topic.OP, b"DispatchKey", rb"\bDispatchKey(?:Set)?\b(?!Guard)")
_about(Topic.OP, b"collect_next_edges", rb"collect_next_edges\s*\(")
_about(Topic.OP, b"OperatorHandle", rb"\bOperatorHandle\b")
_about(Topic.OP, b"jit::Stack", rb"jit::Stack\b")
_about(Topic.AUTOGRAD, b"Function", rb"(?:autograd::|public\s+|:\s*)Function\s*<")
_about(Topic.AUTOGRAD, b"AutogradContext", rb"AutogradContext\b")
_about(Topic.AUTOGRAD, b"Autograd", rb"(?:::|,\s*)Autograd(?:CPU|CUDA|XPU|MPS|PrivateUse\d|Other)?\b")
_about(Topic.AUTOGRAD, b"collect_next_edges", rb"collect_next_edges\s*\(")
_about(Topic.BINDING, b"PYBIND11_MODULE", rb"PYBIND11_MODULE\s*\(")
_about(Topic.BINDING, b"TORCH_EXTENSION_NAME", rb"TORCH_EXTENSION_NAME\b")
_about(Topic.BINDING, b"PyInit_", rb"\bPyInit_\w+")
_about(Topic.GRADIENT, b"backward", rb"(?:\.|->)backward\s*\(")
_about(Topic.GRADIENT, b"autograd::", rb"autograd::(?:grad|backward)\s*\(")
_about(Topic.GRADIENT, b"requires_grad", rb"\b(?:set_)?requires_grad_?\s*\(\s*(?:true\s*)?\)(?<!requires_grad\(\))")
_about(Topic.GRADIENT, b"optim::", rb"\boptim::\w+")
_about(Topic.LOAD, b"jit::load", rb"\bjit::(?:_?load\w*|pickle_load|import_ir_module)\s*\(")
_about(Topic.LOAD, b"torch::load", rb"\btorch::load\s*\(")
_about(Topic.LOAD, b"torch::pickle_load", rb"\btorch::pickle_load\s*\(")
_about(Topic.LOAD, b"_load_for_", rb"\b_load_for_(?:mobile|lite_interpreter)\s*\(")
_about(Topic.LOAD, b"AOTIModel", rb"\bAOTIModel\w+")
_about(Topic.LOAD, b"load_method", rb"(?:\.|->)load_method\s*\(")
_about(Topic.LOAD, b"loadPickle", rb"(?:\.|->)loadPickle\s*\(")
_about(Topic.RUN, b"forward", rb"(?:\.|->)forward(?:_\w+)?\s*\(")
_about(Topic.RUN, b"run_method", rb"(?:\.|->)run_method\s*\(")
_about(Topic.RUN, b"get_method", rb"(?:\.|->)get_method\s*\(")
_about(Topic.RUN, b"runMethod", rb"(?:\.|->)runMethod\s*\(")
_about(Topic.RUN, b"acquireSession", rb"(?:\.|->)acquireSession\s*\(")
_about(Topic.TENSOR, b"at::Tensor", rb"at::Tensor\b(?<!\wat::Tensor)")
_about(Topic.TENSOR, b"torch::Tensor", rb"torch::Tensor\b(?<!\wtorch::Tensor)")


def sketch_cpp(source: Source) -> Sketch:
    """What the file defines and mentions, outside comments and strings."""
    text = source.text
    code = code_only(text)
    mentions = {}
    for topic, patterns in _PATTERNS.items():
        seen = (pattern.finditer(code) for hint, pattern in patterns if find(text, hint, 0, len(text)) >= 0)
        found = sorted((match.start(), match.group()) for matches in seen for match in matches)
        if found:
            place, written = found[0]
            shown = " ".join(written.decode("utf-8", "replace").split()).rstrip("( <").lstrip(".->: ")
            mentions[topic] = Mention(len(found), place, text.count(b"\n", 0, place) + 1, shown)
    classes = frozenset(match[1].decode("utf-8", "replace") for kind in _CLASSES for match in kind.finditer(code))
    return Sketch(source.path, function_names(code), classes, mentions)
