"""Sum a column by the values of another one, as a Markdown table and perhaps a plot."""

from __future__ import annotations

import argparse
import sys

from tables import number, read_rows


def totals(rows: list[dict[str, str]], by: str, column: str) -> dict[str, float]:
    """Return the sum of a column for each value of another one; end if there is no such column."""
    for name in (by, column):
        if rows and name not in rows[0]:
            sys.exit(f"no column {name!r}; there are {', '.join(rows[0])}")
    sums: dict[str, float] = {}
    for row in rows:
        sums[row[by]] = sums.get(row[by], 0.0) + (number(row[column]) or 0.0)
    return dict(sorted(sums.items(), key=lambda entry: (-entry[1], entry[0])))


def draw(sums: dict[str, float], title: str, path: str) -> None:
    """Write a bar chart."""
    try:
        import matplotlib as mpl
    except ImportError:
        sys.exit("a plot needs matplotlib")
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.bar(list(sums), list(sums.values()))
    plt.title(title)
    plt.savefig(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a CSV file, or JSON with a list of objects")
    parser.add_argument("--by", required=True, metavar="COLUMN", help="what to group by")
    parser.add_argument("--sum", required=True, metavar="COLUMN", help="what to add up")
    parser.add_argument("--plot", metavar="FILE", help="also write a bar chart (PNG or SVG)")
    options = parser.parse_args()
    sums = totals(read_rows(options.file), options.by, options.sum)
    print(f"| {options.by} | {options.sum} |\n|---|---|")
    for name, total in sums.items():
        print(f"| {name} | {total:g} |")
    if options.plot:
        draw(sums, f"{options.sum} by {options.by}", options.plot)


if __name__ == "__main__":
    main()
