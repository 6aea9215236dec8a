from agentsandbox.commands.unzip import zipinfo

__all__ = ["zipinfo"]
