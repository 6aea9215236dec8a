"""less, more and man."""
