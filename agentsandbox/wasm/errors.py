"""The error of a guest that cannot run."""

from __future__ import annotations

from agentsandbox.errors import SandboxError


class UnavailableError(SandboxError):
    """A guest cannot run here; the message says what to do."""
