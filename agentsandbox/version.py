"""The version of this package, as `pyproject.toml` has it."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.3.0"
