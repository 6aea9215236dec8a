#!/usr/bin/env python3
"""Sum a numeric column of a CSV file by the values of another."""

import csv
import sys
from collections import defaultdict


def main():
    if len(sys.argv) != 4:
        print(f"usage: {sys.argv[0]} FILE GROUP VALUE", file=sys.stderr)
        return 2
    path, group, value = sys.argv[1:]
    totals = defaultdict(float)
    rows = 0
    with open(path, newline="", encoding="utf-8-sig") as f:
        reader = csv.DictReader(f)
        missing = {group, value} - set(reader.fieldnames or [])
        if missing:
            print(f"no column {', '.join(sorted(missing))} in {reader.fieldnames}", file=sys.stderr)
            return 1
        for row in reader:
            rows += 1
            try:
                totals[row[group]] += float(row[value])
            except ValueError:
                print(f"line {reader.line_num}: {row[value]!r} is not a number", file=sys.stderr)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([group, value])
    writer.writerows([k, f"{v:.2f}"] for k, v in sorted(totals.items()))
    print(f"# {rows} rows")
    return 0


sys.exit(main())
