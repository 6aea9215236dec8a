"""iconv: text in other encodings."""
