"""The host's way to the files of a sandbox: `sandbox.files`.

`access` is the public class and `values` what it returns. `searching` finds names and lines. What
is copied in or out is a sequence of `members`, which `transfer` reads from and writes to the
sandbox, `folders` a folder of the host and `archives` a tar or zip archive.
"""

from __future__ import annotations

from agentsandbox.files.access import SandboxFiles
from agentsandbox.files.values import FileInfo, Match

__all__ = ["FileInfo", "Match", "SandboxFiles"]
