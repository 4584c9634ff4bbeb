"""What an editor can do with actions and edits, as it says when it connects."""

from __future__ import annotations

from lsprotocol.types import ClientCapabilities, CodeAction, TextDocumentEdit, TextEdit, WorkspaceEdit


def resolves_edits(capabilities: ClientCapabilities) -> bool:
    """Whether the editor asks for the edit of an action when it is chosen."""
    document = capabilities.text_document
    action = document.code_action if document is not None else None
    support = action.resolve_support if action is not None else None
    return action is not None and bool(action.data_support) and support is not None and "edit" in support.properties


def as_understood(action: CodeAction, capabilities: ClientCapabilities) -> CodeAction:
    """The action with its edit in the form that the editor takes."""
    if action.edit is not None and action.edit.document_changes and not _takes_document_changes(capabilities):
        changes = [one for one in action.edit.document_changes if isinstance(one, TextDocumentEdit)]
        texts = {one.text_document.uri: [e for e in one.edits if isinstance(e, TextEdit)] for one in changes}
        action.edit = WorkspaceEdit(changes=texts)
    return action


def _takes_document_changes(capabilities: ClientCapabilities) -> bool:
    """Whether edits may say which version they are of."""
    workspace = capabilities.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    return edit is not None and bool(edit.document_changes)
