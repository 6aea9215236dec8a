from agentsandbox.commands.xz import xzcat

__all__ = ["xzcat"]
