"""split and csplit."""
