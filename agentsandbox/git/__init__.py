"""git for the sandbox: repositories that real git reads, on the sandbox's own filesystem."""
