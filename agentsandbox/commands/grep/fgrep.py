"""`fgrep`: grep -F, under its old name."""

from __future__ import annotations

from agentsandbox.commands.grep.grep import fgrep

__all__ = ["fgrep"]
