"""Skills found in ordered roots, known by their front matter, read when they are loaded."""
