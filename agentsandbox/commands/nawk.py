"""`nawk`: another name of `awk`."""

from __future__ import annotations

from agentsandbox.commands.awk.awk import awk as nawk

__all__ = ["nawk"]
