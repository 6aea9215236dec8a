"""sort: keys, values and runs."""
