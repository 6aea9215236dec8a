"""Walk a folder and report sizes by suffix."""

import os
import sys
from collections import defaultdict


def walk(top):
    for here, folders, names in os.walk(top):
        folders[:] = sorted(d for d in folders if not d.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)
            if not os.path.islink(path):
                yield path, os.path.getsize(path)


top = sys.argv[1] if len(sys.argv) > 1 else "."
if not os.path.isdir(top):
    sys.exit(f"{top}: not a directory")
sizes = defaultdict(list)
for path, size in walk(top):
    sizes[os.path.splitext(path)[1] or "(none)"].append((size, os.path.relpath(path, top)))
for suffix, found in sorted(sizes.items(), key=lambda kv: -sum(s for s, _ in kv[1])):
    largest = max(found)
    print(
        f"{suffix:8} {len(found):3} files {sum(s for s, _ in found):6} bytes, largest {largest[1]}"
    )
