from agentsandbox.commands.xz import lzcat

__all__ = ["lzcat"]
