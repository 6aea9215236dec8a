from agentsandbox.commands.xz import unxz

__all__ = ["unxz"]
