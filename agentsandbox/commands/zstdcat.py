from agentsandbox.commands.zstd import zstdcat

__all__ = ["zstdcat"]
