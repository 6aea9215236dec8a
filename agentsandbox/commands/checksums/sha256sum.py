"""`sha256sum` (GNU coreutils): print or check SHA256 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

sha256sum = digest_command("sha256sum", "SHA256", 256, "sha256")
