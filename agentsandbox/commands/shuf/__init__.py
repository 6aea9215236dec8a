"""shuf: lines in random order."""
