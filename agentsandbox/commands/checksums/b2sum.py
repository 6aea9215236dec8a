"""`b2sum` (GNU coreutils): print or check BLAKE2b digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

b2sum = digest_command("b2sum", "BLAKE2b", 512, "blake2b", any_length=True)
