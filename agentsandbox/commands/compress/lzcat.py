from agentsandbox.commands.compress.xz import lzcat

__all__ = ["lzcat"]
