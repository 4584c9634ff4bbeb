#!/usr/bin/env python3
"""Asks every address outside of this project that the documentation names whether it is still there.

    bench/links.py [--seconds N]

Printed for each address that is wrong: what is wrong, and the files that name it. Exit status 1 when the form of one
is wrong, or a server says that the page, or the place in it, doesn't exist. A server that can't be reached, or that
lets no program in, is listed and doesn't count: it says nothing about the link. Addresses of this project's own files
are checked against the files, by tests/test_docs.py.
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
NAMING = ("*.md", "docs/*.md", "bench/*.md", "editors/vscode/*.md", "linter/rules/gf*.py", "guardfix/output/*.py")
"""The files whose addresses are shown to readers; the pages of rules are made from the rules' docstrings."""

_ADDRESS = re.compile(r"https?://[^\s)>\"'`\]]+")
_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_OURS = re.compile(r"https://(?:github\.com/guardfix/|guardfix\.github\.io/|json\.schemastore\.org/guardfix)")
_HOST = re.compile(r"(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z]{2,}")
_NAMES_NOTHING = "http://json-schema.org/draft-07/schema#"
"""The name of a language, and not an address to open."""
_LARGEST = 1 << 22
"""Bytes of a page in which a place is looked for."""
_REFUSING = frozenset({401, 403, 405, 429, 503})
"""What servers answer to programs of which they know nothing."""


class Answer(NamedTuple):
    """What became of a request."""

    kind: str
    """`there`, `moved`, `gone`, or `unknown` if there was no clear answer."""
    text: str


def external_links(files: Iterable[Path] | None = None) -> Mapping[str, list[str]]:
    """The addresses of others, each with the files that name it. Code blocks are left out: they are examples."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in files if files is not None else (path for pattern in NAMING for path in sorted(ROOT.glob(pattern))):
        text = path.read_text(encoding="utf-8")
        for address in _ADDRESS.findall(_FENCED.sub("", text) if path.suffix == ".md" else text):
            address = address.rstrip(".,;:!?*")
            if not _OURS.match(address) and address != _NAMES_NOTHING and "{" not in address:
                name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
                if name not in found[address]:
                    found[address].append(name)
    return dict(found)


def malformed(address: str) -> str:
    """What is wrong with the form of an address; empty where nothing is."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme != "https":
        return "not https"
    if not _HOST.fullmatch(host) or port is not None:
        return f"`{parts.netloc}` is not the plain name of a host"
    if parts.username is not None:
        return "it has the name of a user"
    if not address.isascii():
        return "characters that must be written as %XX"
    return "two slashes in the path" if "//" in parts.path else ""


def asked(address: str, seconds: float) -> Answer:
    """What the server says of an address."""
    request = urllib.request.Request(address.partition("#")[0], headers={"User-Agent": "guardfix-links/1"})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            place = unquote(urlsplit(address).fragment)
            body = response.read(_LARGEST).decode("utf-8", "replace") if place else ""
            if place and not re.search(rf"""\b(?:id|name)=["']?(?:user-content-)?{re.escape(place)}["'\s>]""", body):
                return Answer("gone", f"the page has no place `{place}`")
            if response.url.rstrip("/") != request.full_url.rstrip("/"):
                return Answer("moved", f"now {response.url}")
            return Answer("there", "")
    except urllib.error.HTTPError as error:
        return Answer("unknown" if error.code in _REFUSING else "gone", f"{error.code} {error.reason}")
    except (OSError, ValueError) as error:
        return Answer("unknown", str(getattr(error, "reason", error)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="how long a server may take")
    given = parser.parse_args()
    links = external_links()
    answers = {address: Answer("malformed", why) for address in links if (why := malformed(address))}
    well_formed = [address for address in links if address not in answers]
    with ThreadPoolExecutor(8) as pool:
        told = pool.map(lambda address: asked(address, given.seconds), well_formed)
        answers.update(zip(well_formed, told, strict=True))
    for address, answer in sorted(answers.items(), key=lambda one: (one[1].kind, one[0])):
        if answer.kind != "there":
            print(f"{answer.kind:9} {address}: {answer.text} ({', '.join(links[address])})")
    counts = Counter(answer.kind for answer in answers.values())
    print(f"{len(answers)} addresses: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["gone"] or counts["malformed"] else 0


if __name__ == "__main__":
    sys.exit(main())
