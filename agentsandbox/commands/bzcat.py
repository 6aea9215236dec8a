from agentsandbox.commands.bzip2 import bzcat

__all__ = ["bzcat"]
