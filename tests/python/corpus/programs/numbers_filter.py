"""Sum numbers from standard input, one or more a line."""

import sys

total = 0
for n, line in enumerate(sys.stdin, 1):
    for word in line.split():
        try:
            total += int(word)
        except ValueError:
            print(f"line {n}: not a number: {word}", file=sys.stderr)
            sys.exit(65)
print(total)
