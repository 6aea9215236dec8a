"""Differences: of lines, of files, of trees, and how they are printed."""
