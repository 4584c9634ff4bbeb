"""A TorchScript archive for a program that loads one and has none: small, with the methods that the program calls.

Each method takes tensors and computes with them. Of images (three dimensions or more) it makes a thousand scores for
each, or as many as the program's one linear layer takes; of anything else, something of the same shape. What comes back
has the kind that the program takes it for.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from guardfix.regular_files import read_regular

_LOADS = re.compile(r"\bjit(?:::|\.)(?:mobile::)?_?load(?:_for_mobile)?\s*\(\s*((?:[^(),]|\[[^\]]*\]|\([^()]*\))+)")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s+"(?:[^"\\\n]|\\.)*")+')
_CALLS = re.compile(
    r"(?:[.]|->)\s*(?:(?P<forward>forward)\s*\(|run_method\s*\(\s*\"(?P<run>\w+)\"\s*(?P<comma>,?)|"
    r"get_method\s*\(\s*\"(?P<get>\w+)\"\s*\)\s*\()"
)
_KINDS = (
    (re.compile(r"\s*(?:\.|->)\s*toTuple\b"), "tuple"),
    (re.compile(r"\s*(?:\.|->)\s*to(?:TensorVector|TensorList|List)\b"), "list"),
    (re.compile(r"\s*(?:\.|->)\s*toGenericDict\b"), "dict"),
)
_MOST_ELEMENTS = 16


@dataclass(frozen=True)
class ModelCall:
    """A method of a model as a program calls it."""

    name: str
    arguments: int
    result: str = "tensor"
    """`tensor`, `tuple`, `list` or `dict`."""
    elements: int = 2
    """Of a tuple or list."""

    def __str__(self) -> str:
        names = ", ".join(f"x{number}" for number in range(self.arguments))
        many = f" of {self.elements} tensors" if self.result in ("tuple", "list") else ""
        return f"{self.name}({names}) gives a {self.result}{many}"


@dataclass(frozen=True)
class ModelPlace:
    """Where a program looks for its model."""

    argument: int | None = None
    """The number of a command-line argument, from 1."""
    file: str = ""
    """A file that is named in the program."""


def model_places(text: str) -> list[ModelPlace]:
    """Where the loads of a text look for their models, each once."""
    found: dict[ModelPlace, None] = {}
    # Literals beside each other are one.
    text = _LITERALS.sub(lambda match: '"' + "".join(_LITERAL.findall(match[0])) + '"', text)
    for match in _LOADS.finditer(text):
        found.setdefault(_place(match[1].strip(), text))
    return list(found)


def _place(expression: str, text: str, depth: int = 3) -> ModelPlace:
    number = re.search(r"\bargv\s*\[\s*(\d+)\s*\]", expression)
    if number:
        return ModelPlace(argument=max(1, int(number[1])))
    name = re.fullmatch(r"(?:std::string\s*\()?\"([^\"]+)\"\)?|'([^']+)'", expression)
    if name:
        return ModelPlace(file=name[1] or name[2])
    if depth and re.fullmatch(r"\w+", expression):
        given = re.search(rf"\b{expression}\s*(?:=\s*|[({{]\s*)([^;\n]+?)\s*[)}}]?\s*[;\n]", text)
        if given and given[1] != expression:
            return _place(given[1].strip(), text, depth - 1)
    return ModelPlace(argument=1)


def called_methods(text: str) -> list[ModelCall]:
    """The methods of models that a text calls, each once; `forward` of a tensor if there is none."""
    found: dict[str, ModelCall] = {}
    for match in _CALLS.finditer(text):
        name = match["forward"] or match["run"] or match["get"]
        start = match.end()
        end = _closing(text, start)
        given = text[start:end].strip()
        count = _count(given, text[: match.start()], as_list=not match["run"])
        after = text[end + 1 : end + 200]
        kind = next((kind for pattern, kind in _KINDS if pattern.match(after)), "tensor")
        used = [int(index) for index in re.findall(r"elements\(\)\s*(?:\[\s*|\.at\(\s*)(\d+)", text)]
        call = ModelCall(name, count, kind, min(_MOST_ELEMENTS, max([1, *used]) + 1))
        if name not in found or count > found[name].arguments:
            found[name] = call
    return list(found.values()) or [ModelCall("forward", 1)]


def _closing(text: str, start: int) -> int:
    """Where the bracket closes that was opened before `start`."""
    depth = 1
    for position in range(start, min(len(text), start + 2000)):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return min(len(text), start + 2000)


def _count(given: str, text: str, *, as_list: bool) -> int:
    """How many values are passed: those in braces, or those that were put into the vector that is named.

    `text` is what is before the call.
    """
    if as_list and re.fullmatch(r"(?:std::move\s*\(\s*)?\w+\s*\)?", given):
        name = re.sub(r"std::move\s*\(|\W", "", given)
        # Another function may have a vector of the same name.
        declared = [match.start() for match in re.finditer(rf"[\w>&]\s+{name}\s*[;({{=]|\b{name}\s*\.\s*clear\b", text)]
        text = text[declared[-1] if declared else 0 :]
        pushed = len(re.findall(rf"\b{name}\s*\.\s*(?:push_back|emplace_back)\s*\(", text))
        filled = re.search(rf"\b{name}\s*=?\s*\{{", text)
        if filled and not pushed:
            return max(1, _parts(text[filled.end() : _closing(text, filled.end())]))
        return max(1, pushed)
    inner = given[1:-1] if given.startswith("{") else given
    return max(1, _parts(inner))


def _parts(text: str) -> int:
    depth, count = 0, 1 if text.strip() else 0
    for letter in text:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(letter, 0)
        count += letter == "," and depth == 0
    return count


_CLASS = """\
class Model(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
"""
_TYPES = {
    "tensor": "Tensor",
    "list": "List[Tensor]",
    "dict": "Dict[str, Tensor]",
}


_LINEAR = re.compile(r"\bLinear\s+\w+\s*[({]\s*(\d+)\s*,\s*\d+\s*[)}]")
_SCORES = 1000


def scores_for(text: str) -> int:
    """How many scores a model makes of an image: what the linear layer takes that a program puts after it, if it has
    one."""
    found = {int(features) for features in _LINEAR.findall(text)}
    return found.pop() if len(found) == 1 else _SCORES


def archive_of(calls: Iterable[ModelCall], scores: int = _SCORES) -> bytes:
    """The archive of a model with these methods, as `torch.jit.save` lays it out."""
    code = _CLASS + "".join(_method(call, scores) for call in calls)
    records = {
        "data.pkl": b"\x80\x02c__torch__\nModel\n)\x81}(X\x08\x00\x00\x00training\x89ub.",
        "code/__torch__.py": code.encode(),
        "constants.pkl": b"\x80\x02).",
        "version": b"3\n",
        "byteorder": b"little",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(f"model/{name}"), data)
    return out.getvalue()


def _method(call: ModelCall, scores: int) -> str:
    names = [f"x{number}" for number in range(call.arguments)]
    parameters = ",\n    ".join(f"{name}: Tensor" for name in names)
    kind = _TYPES.get(call.result, f"Tuple[{', '.join(['Tensor'] * call.elements)}]")
    result = {
        "tensor": "y",
        "list": f"[{', '.join(['y'] * call.elements)}]",
        "dict": '{"out": y}',
    }.get(call.result, f"({', '.join(['y'] * call.elements)})")
    return f"""\
  def {call.name}(self: __torch__.Model,
    {parameters}) -> {kind}:
    z = torch.mul({names[0]}, 0.5)
    if torch.gt(torch.dim(z), 2):
      rows = torch.mean(torch.flatten(z, 1), [1], True)
      y = torch.cumsum(torch.add(torch.expand(rows, [-1, {scores}]), 0.125), 1)
    else:
      y = torch.add(z, 0.125)
    return {result}
"""


@dataclass(frozen=True)
class MadeUpModel:
    """What a program is given as its model."""

    arguments: tuple[str, ...]
    """The program's arguments, with the model's path where it is looked for."""
    note: str = ""
    elsewhere: Mapping[Path, bytes] = field(default_factory=dict)
    """Models outside of the folder in which the program runs, by their paths."""


MODEL_FILE = "guardfix_model.pt"
_READS_IMAGES = re.compile(r"\b(?:imread|stbi_load|load_image)\b")
_IMAGE_FILE = "guardfix_image.jpg"


def provide_model(texts: Iterable[str], given: str, arguments: tuple[str, ...], folders: Iterable[Path]) -> MadeUpModel:
    """Puts a model into the folders in which the program of these texts runs, where it looks for one.

    `given` is the file of a model, or `auto`.
    """
    text = "\n".join(texts)
    places = model_places(text)
    if not places:
        return MadeUpModel(arguments)
    calls = called_methods(text)
    archive = archive_of(calls, scores_for(text)) if given == "auto" else read_regular(given)
    changed = list(arguments)
    elsewhere = {}
    for place in places:
        name = place.file or MODEL_FILE
        for folder in folders:
            path = folder / name
            if not path.resolve().is_relative_to(folder.resolve()):
                elsewhere[Path(os.path.abspath(path))] = archive
            elif given != "auto" or not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive)
        if place.argument is not None:
            # What comes before it is not known: in a program of images one of these, made up as its model is.
            missing = place.argument - 1 - len(changed)
            if given == "auto" and missing > 0 and _READS_IMAGES.search(text):
                changed += [_IMAGE_FILE] * missing
            position = min(place.argument - 1, len(changed))
            if changed[position : position + 1] != [MODEL_FILE]:
                changed.insert(position, MODEL_FILE)
    note = f"its model was generated: {'; '.join(map(str, calls))}" if given == "auto" else ""
    return MadeUpModel(tuple(changed), note, elsewhere)
