from agentsandbox.commands.gzip import zcat

__all__ = ["zcat"]
