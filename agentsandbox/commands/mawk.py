"""`mawk`: another name of `awk`."""

from __future__ import annotations

from agentsandbox.commands.awk.awk import awk as mawk

__all__ = ["mawk"]
