from agentsandbox.commands.compress.xz import unlzma

__all__ = ["unlzma"]
