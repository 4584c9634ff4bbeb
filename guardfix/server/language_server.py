"""The server: what the editor asks and tells, and what it is answered.

Everything that reads code runs in one thread of its own, so that typing never waits for it. A result that comes too
late, for a text that has changed since, is dropped.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from guardfix.api import BadConfiguration, BadPattern, NoSuchPath, Options, UnknownRule, check
from guardfix.linter.files.languages import language_of
from guardfix.linter.files.prefilter_table import LANGUAGES, ON_REQUEST
from guardfix.linter.files.project_root import CONFIGURATION_FILES
from guardfix.linter.files.workspace import Workspace
from guardfix.package_version import VERSION

from .document_checks import CheckedText, DocumentChecks, lines_in
from .editor_connection import StrictProtocol
from .finding_diagnostics import diagnostic_of
from .open_documents import OpenDocument, OpenDocuments, document_path, document_uri, utf8
from .server_settings import ServerSettings

CHECK_WORKSPACE = "guardfix.checkWorkspace"
_SUFFIXES = sorted({**LANGUAGES, **ON_REQUEST})
_WATCHED = (*CONFIGURATION_FILES, ".gitignore", f"*{{{','.join(_SUFFIXES)}}}")
_SMALL = b"void f() {\n  at::AutoNonVariableTypeMode guard;\n}\n"
_SETTLES = 0.3
"""Seconds without further news after which changed files are read again: a checkout changes thousands."""
_CANNOT_CHECK = (BadConfiguration, BadPattern, NoSuchPath, UnknownRule)

_log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


class _Stale(Exception):
    """The text has changed since it was asked about."""


class _Protocol(StrictProtocol):
    """pygls ends lines at form feeds and other signs at which no editor does: the open texts are kept here instead."""

    _server: GuardfixServer

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._server.opened(params.text_document)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)


class GuardfixServer(LanguageServer):
    """One editor's server."""

    protocol: _Protocol

    def __init__(self) -> None:
        super().__init__("guardfix", VERSION, protocol_cls=_Protocol)
        self.documents = OpenDocuments()
        self.settings = self.initial_settings = ServerSettings()
        self.is_shut_down = False
        self._checks = DocumentChecks()
        self._reading = ThreadPoolExecutor(1, "guardfix-check")
        self._checked: dict[str, CheckedText] = {}
        self._running: dict[tuple[str, int], asyncio.Task[CheckedText]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._generation = 0
        """Counts how often what is on the disk may have changed: older results are stale."""
        self._in_workspace: set[str] = set()
        self._checked_folders: list[str] = []
        """Files that aren't open for which the editor shows findings."""
        self._told: dict[str, str] = {}

    @property
    def encoding(self) -> lsp.PositionEncodingKind | str:
        """The unit of columns that was agreed on."""
        return self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve one editor until it ends."""
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        with suppress(asyncio.CancelledError, BrokenPipeError, KeyboardInterrupt, SystemExit):
            asyncio.run(self.protocol.serve(stdin or sys.stdin.buffer))

    # Open texts.

    def opened(self, item: lsp.TextDocumentItem) -> None:
        path = document_path(item.uri)
        if path is None:
            return
        encoding = self.encoding
        self.documents.put(OpenDocument(item.uri, path, item.version, utf8(item.text), encoding))
        self._checked.pop(item.uri, None)
        self.check_soon(item.uri, 0)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is not None:
            self.documents.put(document.edited(params.text_document.version, params.content_changes))
            self.check_soon(uri, self.settings.debounce / 1000)

    def closed(self, uri: str) -> None:
        document = self.documents.get(uri)
        self.documents.close(uri)
        self._checked.pop(uri, None)
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        if document is not None:
            self._checks.close(document.path)
            self._publish(uri, [], None)
            if any(document.path.startswith(os.path.join(folder, "")) for folder in self._checked_folders):
                self.start(self._check_closed(uri, document.path))

    async def _check_closed(self, uri: str, path: str) -> None:
        """Show what a file of the workspace has on the disk, as is shown of those that were never open."""
        texts = {one.path: one.data for one in self.documents}
        try:
            found = await self._in_thread(lambda: self._found_in(self._checked_folders, texts, paths=[path]))
        except _CANNOT_CHECK:
            return
        if self.documents.get(uri) is None:
            self._publish(uri, found.get(document_uri(path), []), None)

    # Checks.

    def check_soon(self, uri: str, delay: float) -> None:
        """Check a text after so many seconds without another change."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._check_after(uri, delay))

    async def _check_after(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            checked = await self.checked(uri)
            if checked is not None and self._is_current(checked.document):
                found = await self._in_thread(
                    lambda: [diagnostic_of(finding, checked.lines_of) for finding in checked.findings]
                )
                if self._is_current(checked.document):
                    self._publish(uri, found, checked.document.version)
        except _Stale:
            return
        except _CANNOT_CHECK as error:
            self._cannot_check(uri, error)
        except Exception as error:
            _log.exception("the check of %s failed", uri)
            self._say(lsp.MessageType.Error, f"{document_path(uri)} could not be checked: {_named(error)}")

    def _is_current(self, document: OpenDocument) -> bool:
        return self.documents.get(document.uri) is document

    async def checked(self, uri: str) -> CheckedText | None:
        """What is found in the text as it is now; None when it isn't open. Raises `_Stale` and what a check raises."""
        document = self.documents.get(uri)
        if document is None or language_of(document.path, {**LANGUAGES, **ON_REQUEST}) is None:
            return None
        known = self._checked.get(uri)
        if known is not None and known.document is document:
            return known
        key = uri, document.version
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.ensure_future(self._check_now(document))
            running.add_done_callback(partial(self._ran, key))
        # Who asked may lose interest; others may wait for the same answer.
        return await asyncio.shield(running)

    def _ran(self, key: tuple[str, int], task: asyncio.Task[CheckedText]) -> None:
        """Let go of a check, also where everybody who asked for it has lost interest."""
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled():
            task.exception()  # seen by whoever still waits; without this, asyncio logs that no one has seen it

    async def _check_now(self, document: OpenDocument) -> CheckedText:
        generation = self._generation

        def run() -> CheckedText:
            if not self._is_current(document):
                raise _Stale
            return self._checks.check(document, {one.path: one.data for one in self.documents})

        checked = await self._in_thread(run)
        if self._is_current(document) and generation == self._generation:
            self._checked[document.uri] = checked
        return checked

    def warm_up(self) -> None:
        """Import what a check takes before the first text is opened: that takes longer than the check.

        In memory: on the disk, the project around the folder in which the server was started would be read.
        """
        small = Workspace.in_memory({"small.cpp": _SMALL})
        self._reading.submit(check, "small.cpp", options=Options(workers=1), workspace=small)

    async def _in_thread(self, function: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._reading, function)

    def _publish(self, uri: str, found: list[lsp.Diagnostic], version: int | None) -> None:
        self._told.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def _cannot_check(self, uri: str, error: Exception) -> None:
        """Say once why nothing is found: a configuration in the middle of an edit is the same at every key press."""
        text = f"{type(error).__name__}: {error}"
        if self._told.get(uri) != text:
            self._publish(uri, [], None)
            self._told[uri] = text
            self._say(lsp.MessageType.Warning, str(error) or type(error).__name__)

    def _say(self, kind: lsp.MessageType, text: str) -> None:
        self.window_show_message(lsp.ShowMessageParams(kind, f"guardfix: {text}"))

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run something beside the requests; it is kept from being collected before it is done."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What changes around the texts.

    def read_anew(self) -> None:
        """Files or configurations have changed on the disk: check what is open, and what is shown, again."""
        self._generation += 1
        self._checked.clear()
        waiting = self._waiting.pop("", None)
        if waiting is not None:
            waiting.cancel()
        self._waiting[""] = asyncio.ensure_future(self._read_anew())

    async def _read_anew(self) -> None:
        await asyncio.sleep(_SETTLES)
        await self._in_thread(self._checks.forget)
        for document in self.documents:
            self.check_soon(document.uri, 0)
        if self.settings.workspace:
            await self.check_workspace()

    async def check_workspace(self) -> None:
        """Check all files of the workspace's folders, and show how far it is."""
        folders = [path for uri in self.workspace.folders if (path := document_path(uri)) is not None]
        root = document_path(self.workspace.root_uri or "")
        if not folders and root is not None:
            folders = [root]
        if not folders:
            return
        token = await self._progress_begun("Checking guards")
        loop = asyncio.get_running_loop()

        def progress(done: int, total: int) -> None:
            if token is not None and total:
                value = lsp.WorkDoneProgressReport(
                    message=f"{done} of {total} files", percentage=min(100, 100 * done // total)
                )
                loop.call_soon_threadsafe(self.work_done_progress.report, token, value)

        texts = {one.path: one.data for one in self.documents}
        found: dict[str, list[lsp.Diagnostic]] = {}
        message = ""
        try:
            found = await self._in_thread(lambda: self._found_in(folders, texts, progress=progress))
        except _CANNOT_CHECK as error:
            message = str(error)
            self._say(lsp.MessageType.Warning, message)
        finally:
            if token is not None:
                count = sum(map(len, found.values()))
                end = message or f"{count} finding{'s' * (count != 1)} in {len(found)} file{'s' * (len(found) != 1)}"
                self.work_done_progress.end(token, lsp.WorkDoneProgressEnd(message=end))
        open_now = {document.path for document in self.documents}
        for uri in self._in_workspace - found.keys():
            if document_path(uri) not in open_now:
                self._publish(uri, [], None)
        self._in_workspace = set(found)
        self._checked_folders = folders
        for uri, items in found.items():
            if document_path(uri) not in open_now:
                self._publish(uri, items, None)

    def _found_in(
        self, folders: list[str], texts: Mapping[str, bytes], **options: Any
    ) -> dict[str, list[lsp.Diagnostic]]:
        """By the addresses of files, what `DocumentChecks.check_folders` finds."""
        report = self._checks.check_folders(folders, texts, **options)
        found: dict[str, list[lsp.Diagnostic]] = {}
        for finding in report.findings:
            item = diagnostic_of(finding, lambda path: lines_in(report, path, self.encoding))
            found.setdefault(document_uri(finding.path), []).append(item)
        return found

    async def _progress_begun(self, title: str) -> str | None:
        """The token of a progress bar; None where the editor has none."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return None
        token = f"guardfix-{len(self.work_done_progress.tokens)}"
        await self.work_done_progress.create_async(token)
        self.work_done_progress.begin(token, lsp.WorkDoneProgressBegin(title=title, percentage=0))
        return token

    # Settings.

    def configure(self, given: object) -> None:
        """Take the editor's settings."""
        before = self.settings
        self.settings, wrong = ServerSettings.of(given, self.initial_settings)
        self._tell(wrong)
        if self.settings.workspace and not before.workspace:
            self.start(self.check_workspace())

    def begin_with(self, options: object) -> None:
        """Take the initialization options; the editor's settings count over them."""
        self.settings, wrong = ServerSettings.of(options)
        self.initial_settings = self.settings
        self._tell(wrong)

    def _tell(self, wrong: Sequence[str]) -> None:
        for text in wrong:
            self._say(lsp.MessageType.Warning, text)

    async def ask_for_settings(self) -> None:
        """Ask the editor for its settings, where it can be asked."""
        workspace = self.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return
        items = [lsp.ConfigurationItem(section="guardfix")]
        answer = await self.workspace_configuration_async(lsp.ConfigurationParams(items))
        self.configure(answer[0] if answer else None)

    async def watch_files(self) -> None:
        """Ask to be notified of files that change on the disk, if the editor can do that."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [lsp.FileSystemWatcher(glob_pattern=f"**/{pattern}") for pattern in _WATCHED]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = lsp.Registration("guardfix-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await self.client_register_capability_async(lsp.RegistrationParams([registration]))
        self._checks.is_told_of_changes = True

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Errors outside of requests; those of requests are answers."""
        if source is not FeatureRequestError:
            self._say(lsp.MessageType.Error, _named(error))

    def takes_document_changes(self) -> bool:
        """Whether edits may say which version they are of."""
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        return edit is not None and bool(edit.document_changes)

    def resolves_edits(self) -> bool:
        """Whether the editor asks for the edit of an action when it is chosen."""
        document = self.client_capabilities.text_document
        action = document.code_action if document is not None else None
        support = action.resolve_support if action is not None else None
        return action is not None and bool(action.data_support) and support is not None and "edit" in support.properties

    def as_understood(self, action: lsp.CodeAction) -> lsp.CodeAction:
        """The action with its edit in the form that the editor takes."""
        if action.edit is not None and action.edit.document_changes and not self.takes_document_changes():
            changes = [one for one in action.edit.document_changes if isinstance(one, lsp.TextDocumentEdit)]
            texts = {one.text_document.uri: [e for e in one.edits if isinstance(e, lsp.TextEdit)] for one in changes}
            action.edit = lsp.WorkspaceEdit(changes=texts)
        return action

    async def answered(self, uri: str, function: Callable[[CheckedText], Answer]) -> Answer | None:
        """What a function says of a text as it is now; None when that isn't open, or changes meanwhile."""
        try:
            checked = await self.checked(uri)
        except (_Stale, *_CANNOT_CHECK):
            return None
        return await self._in_thread(lambda: function(checked)) if checked is not None else None

    def shut_down(self) -> None:
        """Begin no further check."""
        self.is_shut_down = True
        for task in (*self._waiting.values(), *self._tasks):
            task.cancel()
        self._reading.shutdown(wait=False, cancel_futures=True)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
