"""`sha512sum` (GNU coreutils): print or check SHA512 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

sha512sum = digest_command("sha512sum", "SHA512", 512, "sha512")
