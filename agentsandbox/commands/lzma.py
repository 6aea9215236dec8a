from agentsandbox.commands.xz import lzma

__all__ = ["lzma"]
