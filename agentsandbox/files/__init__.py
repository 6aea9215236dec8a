"""`sandbox.files`: the files of a sandbox, for the program that owns it.

`access` has the public class and `values` what it returns. `searching` finds names and lines. A
copy in or out is a sequence of `members`, which `transfer` reads from the sandbox or writes to it,
`folders` does the same for a folder of the host, and `archives` for a tar or zip archive.
"""

from __future__ import annotations

from agentsandbox.files.access import SandboxFiles
from agentsandbox.files.values import FileInfo, Match

__all__ = ["FileInfo", "Match", "SandboxFiles"]
