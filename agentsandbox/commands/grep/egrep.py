"""`egrep`: grep -E, under its old name."""

from __future__ import annotations

from agentsandbox.commands.grep.grep import egrep

__all__ = ["egrep"]
