import sys

for line in sys.stdin:
    k, _, v = line.strip().partition("=")
    print(k.upper(), int(v) + 1)
