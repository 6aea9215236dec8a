from agentsandbox.commands.compress.xz import lzma

__all__ = ["lzma"]
