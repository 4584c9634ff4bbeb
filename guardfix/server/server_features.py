"""What an editor may ask: each request and notification of the protocol, and what answers it."""

from __future__ import annotations

from lsprotocol import types as lsp

from .document_checks import CheckedText
from .error_reasons import SHOW_WHY, why_text
from .finding_actions import FIX_ALL, OPEN_RULE, actions_in, resolved
from .guard_hover import context_hints
from .language_server import CHECK_WORKSPACE, GuardfixServer
from .program_verification import VERIFY, ask_and_verify, lenses
from .tensor_hover import hover_at, mode_hints


def new_server() -> GuardfixServer:
    """A server that is ready to be started."""
    server = GuardfixServer()

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.begin_with(params.initialization_options)
        if params.process_id is not None:
            server.start(server.protocol.end_with(params.process_id))

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        server.warm_up()
        await server.watch_files()
        if server.settings.workspace:
            server.start(server.check_workspace())
        await server.ask_for_settings()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.read_anew()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: lsp.DidChangeConfigurationParams) -> None:
        if params.settings:
            server.configure(params.settings)
        else:
            await server.ask_for_settings()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.read_anew()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        server.read_anew()

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        return await server.answered(params.text_document.uri, lambda checked: hover_at(checked, params.position))

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    )
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        lazily = server.resolves_edits()

        def made(checked: CheckedText) -> list[lsp.CodeAction]:
            found = actions_in(checked, params.range, params.context.only, params.context.diagnostics)
            return found if lazily else [one if one.data is None else resolved(one, checked) for one in found]

        found = await server.answered(params.text_document.uri, made)
        shown = [one for one in found or () if lazily or one.edit is not None or one.command is not None]
        return [server.as_understood(one) for one in shown]

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if not isinstance(action.data, dict):
            return action
        done = await server.answered(str(action.data.get("uri")), lambda checked: resolved(action, checked))
        return server.as_understood(done or action)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
        return await server.answered(params.text_document.uri, lenses) if server.settings.codeLens else []

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
        made = [context_hints] * server.settings.inlayHints + [mode_hints] * server.settings.modeHints
        rows = range(params.range.start.line, params.range.end.line + 1)

        def hints(checked: CheckedText) -> list[lsp.InlayHint]:
            return [hint for make in made for hint in make(checked) if hint.position.line in rows]

        return await server.answered(params.text_document.uri, hints) if made else []

    @server.command(OPEN_RULE)
    async def open_rule(url: str) -> None:
        window = server.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            await server.window_show_document_async(lsp.ShowDocumentParams(url, external=True))
        else:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, url))

    @server.command(SHOW_WHY)
    async def show_why(uri: str, key: str, row: int) -> None:
        text = await server.answered(uri, lambda checked: why_text(key, row, checked))
        if text is not None:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))

    @server.command(CHECK_WORKSPACE)
    async def check_workspace() -> None:
        await server.check_workspace()

    @server.command(VERIFY)
    async def verify(uri: str) -> None:
        await ask_and_verify(server, uri, server.documents.get(uri))

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.shut_down()

    return server
