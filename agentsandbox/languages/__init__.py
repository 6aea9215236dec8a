"""Languages inside commands: awk, sed, jq, find, printf, dates; none knows who calls it."""
