"""Group conventional commits from standard input into a changelog."""

import itertools
import re
import sys
from operator import itemgetter

KINDS = {"feat": "Features", "fix": "Fixes", "docs": "Documentation"}
found = []
for line in sys.stdin:
    match re.fullmatch(
        r"(?P<sha>[0-9a-f]{7}) (?P<kind>\w+)(?:\((?P<scope>[^)]+)\))?(?P<bang>!)?: (?P<text>.+)\n?",
        line,
    ):
        case None:
            print("skipped:", line.rstrip(), file=sys.stderr)
        case m if m["kind"] in KINDS:
            scope = f"**{m['scope']}**: " if m["scope"] else ""
            found.append((KINDS[m["kind"]], bool(m["bang"]), f"{scope}{m['text']} ({m['sha']})"))
        case _:
            pass
found.sort(key=itemgetter(0))
for title, group in itertools.groupby(found, key=itemgetter(0)):
    print(f"## {title}\n")
    for _, breaking, text in sorted(group, key=lambda item: (not item[1], item[2])):
        print(("- ⚠ " if breaking else "- ") + text)
    print()
