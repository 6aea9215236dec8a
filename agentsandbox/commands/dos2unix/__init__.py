"""`dos2unix` and `unix2dos` (7.4.3): convert the line ends of text files."""
