from agentsandbox.commands.zip.unzip import zipinfo

__all__ = ["zipinfo"]
