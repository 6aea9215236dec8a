"""Comparing and patching files line by line: edit scripts as GNU diff makes them, their formats,
and applying them.
"""
