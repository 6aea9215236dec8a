"""`sha384sum` (GNU coreutils): print or check SHA384 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

sha384sum = digest_command("sha384sum", "SHA384", 384, "sha384")
