"""What several commands know of text: quoting, lines, sizes, widths."""
