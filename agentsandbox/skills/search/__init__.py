"""Skills found by words, parts of words, spelling mistakes and meaning."""
