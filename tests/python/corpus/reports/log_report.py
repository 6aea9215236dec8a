#!/usr/bin/env python3
"""Summarise an access log from files or standard input."""

import fileinput
import re
from collections import Counter
from datetime import datetime

LINE = re.compile(
    r'(?P<ip>\S+) \S+ \S+ \[(?P<when>[^\]]+)\] "(?P<verb>[A-Z]+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<size>\d+|-)'
)
status, paths, hours, size, bad = Counter(), Counter(), Counter(), 0, 0
for line in fileinput.input(encoding="utf-8"):
    m = LINE.match(line)
    if m is None:
        bad += 1
        continue
    status[m["status"]] += 1
    paths[m["path"].split("?")[0]] += 1
    hours[datetime.strptime(m["when"], "%d/%b/%Y:%H:%M:%S %z").strftime("%H:00%z")] += 1
    size += 0 if m["size"] == "-" else int(m["size"])
print("status:", ", ".join(f"{k}×{v}" for k, v in sorted(status.items())))
for path, n in paths.most_common(3):
    print(f"{n:>4} {'█' * n} {path}")
print(dict(sorted(hours.items())), f"{size / 1024:.1f} KiB", f"{bad} unreadable lines")
