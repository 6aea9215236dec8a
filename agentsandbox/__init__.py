"""agentsandbox: a virtual filesystem, a bash-compatible shell and mounted Agent Skills, inside the Python process."""

__version__ = "0.1.0"
