from agentsandbox.commands.compress.gzip import zcat

__all__ = ["zcat"]
