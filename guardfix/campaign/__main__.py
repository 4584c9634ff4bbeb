"""The server of a campaign's worker."""

from __future__ import annotations

from .task_server import serve

serve()
