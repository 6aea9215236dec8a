#!/usr/bin/env python3
import sys

needle = sys.argv[1] if len(sys.argv) > 1 else ""
count = 0
for line in sys.stdin:
    if needle in line:
        count += 1
        print(line, end="")
print(f"{count} lines", file=sys.stderr)
sys.exit(0 if count else 1)
