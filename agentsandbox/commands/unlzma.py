from agentsandbox.commands.xz import unlzma

__all__ = ["unlzma"]
