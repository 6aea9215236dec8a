"""Describe the columns of a table: type, missing values, range."""

from __future__ import annotations

import argparse

from tables import number, read_rows


def described(values: list[str]) -> str:
    """Return what a column holds."""
    there = [value for value in values if value != ""]
    numbers = [number(value) for value in there]
    known = [value for value in numbers if value is not None]
    if there and len(known) == len(there):
        return f"number, {min(known):g} to {max(known):g}"
    kinds = sorted(set(there))
    if len(kinds) <= 5:
        return f"text: {', '.join(kinds)}"
    return f"text, {len(kinds)} different values"


def main() -> None:
    """Print one line a column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a CSV file, or JSON with a list of objects")
    rows = read_rows(parser.parse_args().file)
    print(f"{len(rows)} rows")
    for name in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(name, "") for row in rows]
        missing = sum(value == "" for value in values)
        print(f"- {name}: {described(values)}" + (f"; {missing} missing" if missing else ""))


if __name__ == "__main__":
    main()
