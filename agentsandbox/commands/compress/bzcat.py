from agentsandbox.commands.compress.bzip2 import bzcat

__all__ = ["bzcat"]
