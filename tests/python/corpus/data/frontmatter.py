"""Validate the frontmatter of Markdown files: name and description, as skills need them."""

import re
import sys
from pathlib import Path

problems = 0
for path in map(Path, sys.argv[1:]):
    text = path.read_text(encoding="utf-8", errors="replace")
    match = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if not match:
        print(f"{path}: no frontmatter")
        problems += 1
        continue
    fields = dict(re.findall(r"^([\w-]+):\s*(.+?)\s*$", match[1], re.M))
    for name, pattern in (("name", r"[a-z0-9]+(-[a-z0-9]+)*"), ("description", r".{10,}")):
        if name not in fields:
            print(f"{path}: {name} is missing")
            problems += 1
        elif not re.fullmatch(pattern, fields[name]):
            print(f"{path}: {name} {fields[name]!r} is not valid")
            problems += 1
print(f"{len(sys.argv) - 1} files, {problems} problems")
sys.exit(min(problems, 1))
