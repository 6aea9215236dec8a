"""Rename files by a pattern: IMG_0001.JPG -> 2024-trip-001.jpg."""

import argparse
import re
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
parser.add_argument("prefix")
parser.add_argument("-n", "--dry-run", action="store_true")
args = parser.parse_args()
number = 0
for path in sorted(
    args.folder.glob("*.[Jj][Pp]*[Gg]"),
    key=lambda p: [int(t) if t.isdigit() else t.lower() for t in re.split(r"(\d+)", p.name)],
):
    number += 1
    target = path.with_name(f"{args.prefix}-{number:03}").with_suffix(
        path.suffix.lower().replace("jpeg", "jpg")
    )
    if target.exists():
        print(f"skip {path.name}: {target.name} exists")
        continue
    print(f"{path.name} -> {target.name}")
    if not args.dry_run:
        path.rename(target)
print(number, "files")
