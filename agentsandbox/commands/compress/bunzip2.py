from agentsandbox.commands.compress.bzip2 import bunzip2

__all__ = ["bunzip2"]
