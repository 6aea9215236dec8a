from agentsandbox.commands.compress.xz import unxz

__all__ = ["unxz"]
