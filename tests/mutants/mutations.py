"""Seeded mutants of fixtures: the same number gives the same mutant on every machine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_ZEROS = (b"0", b"0x0", b"0L", b"0u", b"0b0", b"false", b"!1", b"defined(X) && 0", b"(0)", b"1 - 1", b"X && 0")
_ODD = (
    b"/*", b"*/", b"//", b'"', b"'", b'R"(', b')"', b"\\\n", b"{", b"}", b"(", b")", b";", b"#", b"\t", b"\x0c", b"\xc3\xa9",
    b"\xe2\x80\xa8", b"#if 0\n", b"#endif\n", b"#else\n", b"\n", b"// NOLINT", b"/* c */", b"'''", b"@", b":", b"    ",
)  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True)


def _cut(rng: random.Random, text: bytes) -> tuple[list[bytes], int, int]:
    """The lines, and a stretch of them."""
    lines = _lines(text) or [b"\n"]
    start = rng.randrange(len(lines))
    return lines, start, min(len(lines), start + rng.randint(1, 6))


def _delete_lines(rng: random.Random, text: bytes) -> bytes:
    lines, start, end = _cut(rng, text)
    return b"".join(lines[:start] + lines[end:])


def _repeat_lines(rng: random.Random, text: bytes) -> bytes:
    lines, start, end = _cut(rng, text)
    return b"".join(lines[:end] + lines[start:])


def _move_lines(rng: random.Random, text: bytes) -> bytes:
    lines, start, end = _cut(rng, text)
    rest = lines[:start] + lines[end:]
    place = rng.randint(0, len(rest))
    return b"".join(rest[:place] + lines[start:end] + rest[place:])


def _wrap_lines(rng: random.Random, text: bytes) -> bytes:
    lines, start, end = _cut(rng, text)
    zero = rng.choice(_ZEROS)
    before, after = rng.choice(
        [
            (b"#if " + zero + b"\n", b"#endif\n"),
            (b"#if X\n#else\n", b"#endif\n"),
            (b"#if 1\n#else\n", b"#endif\n"),
            (b"/*\n", b"*/\n"),
            (b'auto text = R"(\n', b')";\n'),
            (b"{\n", b"}\n"),
            (b"#if " + zero + b"\n", b""),
        ]
    )
    return b"".join([*lines[:start], before, *lines[start:end], after, *lines[end:]])


def _join_lines(rng: random.Random, text: bytes) -> bytes:
    lines, start, end = _cut(rng, text)
    return b"".join(lines[:start] + [line.rstrip(b"\r\n") + b" " for line in lines[start:end]] + lines[end:])


def _change_token(rng: random.Random, text: bytes) -> bytes:
    tokens = _TOKEN.findall(text) or [b" "]
    place = rng.randrange(len(tokens))
    tokens[place] = rng.choice([b"", tokens[place] * 2, rng.choice(tokens)])
    return b"".join(tokens)


def _insert(rng: random.Random, text: bytes) -> bytes:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(_ODD) + text[place:]


def _other_ends(rng: random.Random, text: bytes) -> bytes:
    end = rng.choice([b"\r\n", b"\r"])
    if rng.random() < 0.7:
        return re.sub(rb"\r\n|\r|\n", lambda match: end, text)
    return re.sub(rb"\n", lambda match: rng.choice([b"\n", end]), text)


def _no_last_end(rng: random.Random, text: bytes) -> bytes:
    return text.rstrip(b"\r\n")


def _other_encoding(rng: random.Random, text: bytes) -> bytes:
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return text
    kind = rng.choice(["mark", "utf-16-le", "utf-16-be", "latin-1"])
    if kind == "mark":
        return text if text.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + text
    if kind == "latin-1":
        return f"// caf\u00e9\n{decoded}".encode("latin-1", "replace")
    return f"\ufeff{decoded}".encode(kind)


def _truncate(rng: random.Random, text: bytes) -> bytes:
    """Cut off anywhere, in the middle of a character as well."""
    place = rng.randint(0, len(text))
    return text[:place] if rng.random() < 0.8 else text[place:]


def _some_tokens(rng: random.Random, text: bytes) -> bytes:
    """Several tokens go, come twice, or change places."""
    tokens = _TOKEN.findall(text) or [b" "]
    for _ in range(rng.randint(2, 12)):
        one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        if rng.random() < 0.5:
            tokens[one], tokens[other] = tokens[other], tokens[one]
        else:
            tokens[one] = rng.choice([b"", tokens[one] * 2, tokens[other]])
    return b"".join(tokens)


def _brackets(rng: random.Random, text: bytes) -> bytes:
    """A bracket goes, or becomes another one."""
    places = [match.start() for match in re.finditer(rb"[][(){}<>]", text)]
    if not places:
        return text
    place = rng.choice(places)
    return text[:place] + rng.choice([b"", *(bytes([byte]) for byte in b"[](){}<>")]) + text[place + 1 :]


def _directives(rng: random.Random, text: bytes) -> bytes:
    """A line of the preprocessor comes, goes, or is cut in two."""
    lines = _lines(text) or [b"\n"]
    places = [number for number, line in enumerate(lines) if line.lstrip().startswith(b"#")]
    place = rng.choice(places) if places and rng.random() < 0.5 else rng.randrange(len(lines))
    if place in places and rng.random() < 0.7:
        lines[place] = rng.choice([b"", lines[place].replace(b" ", b" \\\n", 1), lines[place] * 2])
    else:
        lines.insert(place, rng.choice(_DIRECTIVES))
    return b"".join(lines)


def _indent(rng: random.Random, text: bytes) -> bytes:
    """Lines move to the right or to the left, with blanks or tabs."""
    lines, start, end = _cut(rng, text)
    before = rng.choice([b" ", b"    ", b"\t", b""])
    return b"".join([*lines[:start], *(before + line.lstrip(b" \t") for line in lines[start:end]), *lines[end:]])


def _bytes(rng: random.Random, text: bytes) -> bytes:
    """Single bytes of any value."""
    data = bytearray(text or b" ")
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(1, 256)
    return bytes(data)


def _comments(rng: random.Random, text: bytes) -> bytes:
    """Comments come at the tokens around a guard's name."""
    tokens, is_python = _TOKEN.findall(text), b"import torch" in text
    guards = [place for place, token in enumerate(tokens) if _NAMES_A_GUARD.search(token)]
    for _ in range(rng.randint(1, 6) if guards else 0):
        place = min(max(0, rng.choice(guards) + rng.randint(-6, 8)), len(tokens) - 1)
        comment = rng.choice(_PYTHON_COMMENTS if is_python else _CPP_COMMENTS) % rng.randint(0, 9)
        tokens[place] = rng.choice([comment + tokens[place], tokens[place] + comment])
    return b"".join(tokens)


_CPP_COMMENTS = (b"/* c%d */", b"// c%d\n", b"/* c\n%d */", b"// c%d \\\n  more\n")
_PYTHON_COMMENTS = (b"  # c%d\n", b"\n    # c%d\n", b"\n# c%d\n")
_DIRECTIVES = (
    b"#if 0\n", b"#if 1\n", b"#ifdef A\n", b"#else\n", b"#elif 0\n", b"#endif\n", b"#define G at::AutoNonVariableTypeMode g\n",
    b"#undef G\n", b"#include <ATen/ATen.h>\n", b"#pragma omp parallel\n", b"#pragma once\n", b"# \n", b"#if (\n", b"#define X(a) a \\\n",
    b"%:if 0\n", b"??=if 0\n", b"#if TORCH_VERSION_MINOR < 9\n", b"#line 7 \"x\"\n",
)  # fmt: skip
_MUTATIONS: tuple[Mutation, ...] = (
    _delete_lines, _repeat_lines, _move_lines, _wrap_lines, _wrap_lines, _join_lines, _change_token, _change_token, _change_token,
    _insert, _insert, _insert, _other_ends, _no_last_end, _truncate, _some_tokens, _brackets, _brackets, _directives, _directives,
    _indent, _bytes, _comments, _comments,
)  # fmt: skip


def sources() -> list[Path]:
    """The fixtures that are single files, and not what becomes of others."""
    files = sorted((*(FIXTURES / "cpp").iterdir(), *(FIXTURES / "python").glob("*.py")))
    return [path for path in files if path.is_file() and len(path.suffixes) == 1]


_NAMES_A_GUARD = re.compile(
    rb"AutoNonVariableTypeMode|AutoDispatchBelow|InferenceMode|NoGradGuard|AutoGradMode"
    rb"|no_grad|inference_mode|(?:set|enable)_grad"
)
_SUFFIXES = {".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm", ".py"}


def real_sources(folder: Path, largest: int = 60_000) -> list[Path]:
    """The files below a folder that name a guard and are not larger."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    return [path for path in files if len(text := path.read_bytes()) <= largest and _NAMES_A_GUARD.search(text)]


def _spliced(rng: random.Random, one: bytes, other: bytes) -> bytes:
    """A text with a stretch of another one in it, or the beginning of one and the end of another."""
    lines, start, end = _cut(rng, other)
    place = rng.randint(0, len(_lines(one)))
    before, after = _lines(one)[:place], _lines(one)[place:]
    stretch = lines[start : rng.randint(end, len(lines))]
    return b"".join([*before, *stretch, *(after if rng.random() < 0.6 else lines[end:])])


def mutant(number: int, files: list[Path]) -> tuple[str, bytes]:
    """(name of a file, its text)."""
    rng = random.Random(number)
    path = rng.choice(files)
    text = path.read_bytes()
    if rng.random() < 0.15:
        text = _spliced(rng, text, rng.choice([other for other in files if other.suffix == path.suffix]).read_bytes())
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_MUTATIONS)(rng, text)
    if rng.random() < 0.1:
        text = _other_encoding(rng, text)
    return path.name, text
