from agentsandbox.commands.zstd import unzstd

__all__ = ["unzstd"]
