"""Patches: reading them, and applying them to files."""
