"""curl, wget and nc: HTTP by the network policy, and the sandbox's own loopback."""
