"""rename: names changed by an expression."""
