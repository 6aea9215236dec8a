"""`gawk`: another name of `awk`."""

from __future__ import annotations

from agentsandbox.commands.awk.awk import awk as gawk

__all__ = ["gawk"]
