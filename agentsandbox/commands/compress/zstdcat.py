from agentsandbox.commands.compress.zstd import zstdcat

__all__ = ["zstdcat"]
