from agentsandbox.commands.compress.gzip import gunzip

__all__ = ["gunzip"]
