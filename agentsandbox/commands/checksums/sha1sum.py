"""`sha1sum` (GNU coreutils): print or check SHA1 digests."""

from __future__ import annotations

from agentsandbox.commands.checksums.digests import digest_command

sha1sum = digest_command("sha1sum", "SHA1", 160, "sha1")
