"""`md5sum` (GNU coreutils): print or check MD5 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

md5sum = digest_command("md5sum", "MD5", 128, "md5")
