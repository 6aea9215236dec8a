#!/usr/bin/env python3
"""Replace a regular expression in files, with a diff."""

import argparse
import difflib
import re
import sys
from pathlib import Path

p = argparse.ArgumentParser()
p.add_argument("pattern")
p.add_argument("replacement")
p.add_argument("globs", nargs="+")
p.add_argument("--write", action="store_true")
a = p.parse_args()
try:
    regex = re.compile(a.pattern, re.M)
except re.error as e:
    p.error(f"bad pattern: {e}")
total = 0
for path in sorted({f for g in a.globs for f in Path().glob(g)}):
    old = path.read_text()
    new, n = regex.subn(a.replacement, old)
    if n:
        total += n
        sys.stdout.writelines(
            difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}", n=1
            )
        )
        if a.write:
            path.write_text(new)
print(f"{total} replacements", file=sys.stderr)
