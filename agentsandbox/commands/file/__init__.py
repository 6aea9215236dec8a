"""file: what a file holds, found by its bytes."""
