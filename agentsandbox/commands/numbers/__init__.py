"""Numbers: seq, numfmt, factor, expr."""
