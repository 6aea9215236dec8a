"""Read a table from a CSV or JSON file."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path


def read_rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a file as dicts of text; end the program with a message if it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}")
    if path.endswith(".json"):
        try:
            found = json.loads(text)
        except ValueError as error:
            sys.exit(f"{path}: not JSON: {error}")
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            sys.exit(f"{path}: not a list of objects")
        return [
            {key: "" if value is None else str(value) for key, value in row.items()}
            for row in found
        ]
    return [
        {key: value or "" for key, value in row.items() if key is not None}
        for row in csv.DictReader(text.splitlines())
    ]


def number(text: str) -> float | None:
    """Return the number that a text says, or None."""
    try:
        return float(text)
    except ValueError:
        return None
