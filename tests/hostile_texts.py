"""Names and texts that would act on a terminal, a CI server's log or a reader's eyes, and what finds them in output."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

ACTS = {
    "escape": "\x1b]0;taken\x07\x1b[2J",
    "c1": "\x9b2J\x85",
    "delete": "\x7f\x08\x08",
    "return": "ok\rtaken",
    "bidi": "\u202eevil\u2066\u2069\u200f",
    "lines": "a\u2028b\u2029c",
    "unseen": "a\ufeff\u200b\U000e0041b",
    "blank": "a\u3164\u115f\u1160\uffa0\u2800\u034f\u17b4\u180b\U0001d173\U0001bca0\ufe00\ufffc\ufffb\U000e0fff",
    "joiners": "a\u200db\u200cc\ufe0f",
    "github": "b\n::set-output name=x::y\n",
    "github_first": "::error file=a::taken",
    "azure": "##vso[task.setvariable variable=a]b",
    "old_runner": "##[add-path]b",
    "teamcity": "##teamcity[message text='a']",
    "surrogate": "a\udcffb",
}
"""What hurts, by why; the names of files are made of these."""

_OTHER_DEFAULT_IGNORABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""Of Unicode's PropList.txt, with the variation selectors. The rest of Default_Ignorable_Code_Point is of category Cf."""
_SEEN = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001345f"
"""Of category Cf and yet visible: marks around numbers, joiners that Egyptian hieroglyphs show."""


def acting_characters() -> list[str]:
    """Controls, what turns or ends lines, and what leaves no mark on paper, by the categories that Python knows."""
    unseen = re.compile(f"[{_OTHER_DEFAULT_IGNORABLE}\u2800\ufffc]")
    seen = re.compile(f"[{_SEEN}\t\n]")
    every = map(chr, (*range(0x20000), *range(0xE0000, 0xE1000)))
    acts = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [one for one in every if unseen.match(one) or (unicodedata.category(one) in acts and not seen.match(one))]


_CONTROLS = re.compile(f"[{''.join(acting_characters())}]")
_OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[\x20-\x7e]*\x1b\\")
"""Colors and links; what is hostile here has none of them."""
_OWN_COMMANDS = re.compile(r"^::(error|warning|notice) title=|^##vso\[task\.logissue type=", re.MULTILINE)
_COMMANDS = re.compile(r"^\s*::[\w-]+(\s[^\n]*)?::|##\w*\[", re.MULTILINE)


def harm_in(output: bytes, *, colored: bool = False, commands: bool = False) -> list[str]:
    """What in the output would act: controls and commands, each with what stands around it."""
    text = output.decode("utf-8", "surrogateescape")
    if colored:
        text = _OWN.sub("", text)
    if commands:
        text = _OWN_COMMANDS.sub("", text)
    found = [match for look in (_CONTROLS, _COMMANDS) for match in look.finditer(text)]
    found += list(re.finditer("[\udc80-\udcff]", text))
    return [repr(text[max(0, match.start() - 30) : match.end() + 30]) for match in found]


def code(act: str, *, python: bool) -> str:
    """A file with findings whose messages, evidence, notes and excerpts come near what hurts."""
    said = act.replace("\n", " ").replace("\udcff", "")
    line = said.replace("\r", "")
    if python:
        return (
            f"# {line}\nimport torch\n\n\ndef f(x):\n    torch.no_grad()  # {line} noqa: GF{line}\n"
            f"    with torch.no_grad:  # {line}\n        return x\n\n\ndef g(x):\n    with torch.inference_mode():\n"
            f"        y = x.cos()  # {line}\n    return y.add_(1)  # noqa: {line}\n"
        )
    return (
        f"#include <torch/torch.h>\n// kernel {line} for inference\n// guardfix: {line}\n"
        f"void f(at::Tensor& a, torch::jit::Module& model) {{\n  at::AutoNonVariableTypeMode g;  // {line} kernel\n"
        f"  ::set_output(a);\n  model.forward({{a}});  // NOLINT({line})\n}}\n"
        f"// autograd {line} kernel\nvoid h(at::Tensor& a) {{\n  at::AutoNonVariableTypeMode();  // {line}\n"
        f"  a.set_(a);\n}}\n"
    )


def write_tree(folder: Path) -> Path:
    """A folder in which names, texts, settings and owners hurt; names that the system refuses are left out."""
    folder.mkdir()
    owners = []
    for name, act in ACTS.items():
        for suffix in (".cpp", ".py"):
            path = folder / f"{act}{suffix}"
            try:
                path.write_text(
                    code(act, python=suffix == ".py"), encoding="utf-8", errors="surrogateescape", newline=""
                )
            except OSError:
                continue
        inside = folder / f"{act} folder"
        inside.mkdir()
        (inside / f"{name}.cpp").write_text(code(act, python=False), encoding="utf-8", newline="")
        owners.append(f"{name}.cpp @{act}".replace("\n", " "))
    (folder / "broken\n::set-output name=x::y\n.cpp").write_text("class {{{ at::AutoNonVariableTypeMode g; ((\n")
    (folder / "utf16\x1b[2J.cpp").write_bytes(code(ACTS["bidi"], python=False).encode("utf-16"))
    (folder / "no text\x07.cpp").write_bytes(b"at::AutoNonVariableTypeMode g;\x00\x01\xff\xfe")
    (folder / "CODEOWNERS").write_text("\n".join(owners), encoding="utf-8", errors="surrogateescape")
    (folder / "print\x9b.py").write_text(
        f"import torch\nwith torch.no_grad():\n    print({ACTS['escape']!r})\n    raise ValueError({ACTS['github']!r} + {ACTS['bidi']!r})\n"
    )
    return folder


SETTINGS = """[tool.guardfix]
extend-exclude = ["never\\u001bc", "no\\u202e", "##vso[a]"]
[tool.guardfix.per-file-ignores]
"x\\u001b]0;taken\\u0007" = ["GF102"]
"""

if os.name == "nt":
    ACTS.clear()  # no such names there
