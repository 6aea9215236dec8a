"""Comparing and patching files line by line: edit scripts, their formats, applying them."""
