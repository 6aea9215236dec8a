from agentsandbox.commands.processes.pgrep import pkill

__all__ = ["pkill"]
