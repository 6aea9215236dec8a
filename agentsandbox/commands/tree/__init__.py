"""tree: a directory drawn as a tree."""
