"""The server as clients of pytest-lsp meet it: with the capabilities of real editors, and checked against the protocol."""

from __future__ import annotations

import asyncio
import sys
import warnings
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient, LspSpecificationWarning, client_capabilities

from .editor_client import applied

OPS = """\
#include <torch/script.h>

at::Tensor run(torch::jit::Module& module, const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  return module.forward({x}).toTensor();
}
"""
EDITORS = ("visual_studio_code", "neovim", "emacs")
PATIENCE = 60.0


@pytest.mark.parametrize("editor", EDITORS)
def test_an_editor_gets_findings_and_a_fix(editor: str, tmp_path: Path) -> None:
    """From the first text to the fixed one; what the server sends beyond the client's capabilities is a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LspSpecificationWarning)
        asyncio.run(_session(editor, tmp_path))


async def _session(editor: str, folder: Path) -> None:
    config = ClientServerConfig([sys.executable, "-m", "guardfix", "server", "--stdio"])
    client = await config.start()
    try:
        await asyncio.wait_for(_talk(client, editor, folder), PATIENCE)
    finally:
        await client.shutdown_session()
        await client.stop()


async def _talk(client: LanguageClient, editor: str, folder: Path) -> None:
    path = folder / "ops.cpp"
    path.write_text(OPS)
    uri = path.as_uri()
    await client.initialize_session(
        lsp.InitializeParams(
            capabilities=client_capabilities(editor),
            workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name="project")],
            initialization_options={"debounce": 10},
        )
    )
    document = lsp.TextDocumentItem(uri=uri, language_id="cpp", version=1, text=OPS)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    [finding] = client.diagnostics[uri]
    assert (finding.code, finding.range.start) == ("GF101", lsp.Position(3, 2))

    text = lsp.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(lsp.HoverParams(text, lsp.Position(3, 10)))
    assert hover is not None
    assert "AutoNonVariableTypeMode" in str(hover.contents)

    context = lsp.CodeActionContext(diagnostics=[finding])
    offered = await client.text_document_code_action_async(lsp.CodeActionParams(text, finding.range, context))
    actions = [action for action in offered or () if isinstance(action, lsp.CodeAction)]
    fix = next(action for action in actions if "c10::InferenceMode" in action.title)
    if fix.edit is None:
        fix = await client.code_action_resolve_async(fix)
    assert fix.edit is not None
    fixed = lsp.TextDocumentContentChangeWholeDocument(applied(OPS, get_converter().unstructure(fix.edit)))
    assert "  c10::InferenceMode guard;\n" in fixed.text
    version = lsp.VersionedTextDocumentIdentifier(version=2, uri=uri)
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [fixed]))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert client.diagnostics[uri] == ()
