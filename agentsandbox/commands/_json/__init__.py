"""JSON: its values, reading and writing them, and the regular expressions of jq."""
