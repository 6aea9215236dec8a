from agentsandbox.commands.pgrep import pkill

__all__ = ["pkill"]
