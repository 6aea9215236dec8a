from agentsandbox.commands.gzip import gunzip

__all__ = ["gunzip"]
