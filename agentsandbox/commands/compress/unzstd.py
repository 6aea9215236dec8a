from agentsandbox.commands.compress.zstd import unzstd

__all__ = ["unzstd"]
