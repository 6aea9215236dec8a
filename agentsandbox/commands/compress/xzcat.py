from agentsandbox.commands.compress.xz import xzcat

__all__ = ["xzcat"]
