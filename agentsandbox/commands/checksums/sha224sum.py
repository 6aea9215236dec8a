"""`sha224sum` (GNU coreutils): print or check SHA224 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

sha224sum = digest_command("sha224sum", "SHA224", 224, "sha224")
