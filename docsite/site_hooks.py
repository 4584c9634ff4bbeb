"""What the site has besides the pages in docs/: a page for each rule, the library's reference, the changelog, and the
data of the guards' page. mkdocs calls these functions by their names."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

from guard_nesting import page_data, table  # noqa: E402
from rule_pages import index_page, page_name, rule_page, rules  # noqa: E402
from verified_fixtures import verified_fixture  # noqa: E402

from guardfix.pytorch_messages.message_table import known_messages  # noqa: E402

_OWN = "https://github.com/guardfix/guardfix/blob/main/"
_OWN_PAGE = re.compile(re.escape(f"]({_OWN}docs/"))
_OUTSIDE = re.compile(r"\]\(\.\./(?!rules/)")
_RULE_LINK = re.compile(r"\]\(rules\.md#(gf\d{3}-[\w-]+)\)")
_SECTION = re.compile(
    r'(<nav class="md-nav" data-md-level="1") aria-labelledby="__nav_(\d+)_label" aria-expanded="[a-z]+">'
)
_MERMAID = os.environ.get("GUARDFIX_MERMAID", "")
"""The path of mermaid.min.js, which draws the diagrams. The theme would have each reader ask another site for it;
without it, diagrams are shown as they are written."""
_MERMAID_ON_SITE = "assets/mermaid.min.js"
_WIDE = frozenset({"architecture.md", "comparison.md", "configuration.md", "guards.md", "rules/index.md"})
"""Pages whose tables and diagrams need the room of the table of contents."""
_ALONE = frozenset({"index.md", "errors.md", "guards.md"})
"""Pages that are the only one of their section: a list of one page beside them would say nothing."""
_FIRST_FOUND = "errors.md"
"""Who searches for what PyTorch says wants this page, not the rules that quote it."""
_EDIT = re.compile(r'^(```\w+ title="[^"]+") edit$', re.MULTILINE)
"""What the tests of the page's commands read: the block replaces a line of the file above it."""
_FENCE_SHOWN = re.compile(r"<p>[^<]*```")
_log = logging.getLogger("mkdocs.hooks")
_TABLE, _DATA = "<!-- the table of guards -->", "<!-- the data of guards -->"

LIBRARY = """
## Reference

::: guardfix.api.check

::: guardfix.api.check_text

::: guardfix.api.fix_text

::: guardfix.api.options_for

::: guardfix.api.FixedText

::: guardfix.linter.engine.Options

::: guardfix.codemods.fixable.FixableReport

::: guardfix.codemods.fixable.FixableFinding

::: guardfix.linter.findings.Decision

::: guardfix.linter.findings.Evidence

::: guardfix.codemods.fix.Fix

::: guardfix.codemods.choice.FixChoice

::: guardfix.linter.files.workspace.Workspace
"""


def on_config(config: Any) -> Any:
    """Put the rules' pages into the navigation."""
    for entry in config.nav:
        if entry.get("Rules") == "rules/":
            entry["Rules"] = ["rules/index.md", *({f"{rule.code} {rule.name}": page_name(rule)} for rule in rules())]
    if _MERMAID:
        config.extra_javascript.append(_MERMAID_ON_SITE)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages; docs/rules.md is the same documentation on one page, for reading on GitHub."""
    made = {page_name(rule): rule_page(rule, verified_fixture) for rule in rules()}
    made["rules/index.md"] = index_page()
    made["changelog.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    if _MERMAID:
        files.append(File.generated(config, _MERMAID_ON_SITE, abs_src_path=_MERMAID))
    old = files.get_file_from_path("rules.md")
    if old is not None:
        files.remove(old)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links to where the site has what they name, and write the guards' data into their page."""
    if not _MERMAID:
        markdown = markdown.replace("```mermaid\n", "```text\n")
    hidden = {"toc": _WIDE, "navigation": _ALONE}
    page.meta["hide"] = [part for part, pages in hidden.items() if page.file.src_uri in pages]
    if page.file.src_uri == _FIRST_FOUND:
        page.meta["search"] = {"boost": 5}
    if page.file.src_uri == "library.md":
        markdown += LIBRARY
    markdown = _EDIT.sub(r"\1", markdown)
    markdown = _OWN_PAGE.sub("](", markdown)
    markdown = _OUTSIDE.sub(f"]({_OWN}", markdown)
    markdown = _RULE_LINK.sub(r"](rules/\1.md)", markdown)
    markdown = re.sub(r"\]\(rules\.md(?:#rules)?\)", "](rules/index.md)", markdown)
    if _TABLE in markdown:
        data = json.dumps(page_data(), separators=(",", ":")).replace("<", "\\u003c")
        markdown = markdown.replace(_TABLE, table())
        markdown = markdown.replace(_DATA, f'<script type="application/json" id="guards-data">{data}</script>')
    return markdown


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Name what the theme leaves without a name for those who hear the page. A fence that is shown fails the build."""
    if _FENCE_SHOWN.search(output):
        _log.warning("%s: a code block's fence is shown as text", page.file.src_uri)
    output = output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    # A section with a page of its own has its list twice in the navigation, under one name.
    titles = [next(iter(entry)) for entry in config.nav]
    return _SECTION.sub(lambda found: f'{found[1]} aria-label="{titles[int(found[2]) - 1]}: pages">', output)


def on_post_build(config: Any) -> None:
    """Let the search find each message by all of its wordings as it does by that of today, which is the heading."""
    path = Path(config.site_dir, "search", "search_index.json")
    index = json.loads(path.read_text(encoding="utf-8"))
    messages = {f"errors/#{slugify(message.title, '-')}": message for message in known_messages().values()}
    for entry in index["docs"]:
        message = messages.pop(entry["location"], None)
        if message is not None:
            entry["title"] = " / ".join(_unlike(text.title for text in message.texts))
    if messages:
        _log.warning("the search doesn't have %s", ", ".join(messages))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _unlike(titles: Iterable[str]) -> Iterator[str]:
    """Those with words of their own: words said often would make a message the answer to questions about others."""
    seen: set[str] = set()
    for title in titles:
        words = set(re.findall(r"\w+", title.lower()))
        if len(words - seen) > 2 or not seen:
            yield title
        seen |= words
