"""Insert or renew a table of contents in a Markdown file, in place."""

import re
import sys
import unicodedata

START, END = "<!-- toc -->", "<!-- /toc -->"


def slug(title):
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def headings(text):
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (m := re.match(r"(#{2,4})\s+(.*)", line)):
            yield len(m[1]) - 2, m[2].strip()


name = sys.argv[1]
with open(name, "r+", encoding="utf-8", newline="") as f:
    text = f.read()
    toc = "\n".join(f"{'  ' * level}- [{title}](#{slug(title)})" for level, title in headings(text))
    pattern = re.compile(re.escape(START) + ".*?" + re.escape(END), re.S)
    new, count = pattern.subn(lambda _: f"{START}\n{toc}\n{END}", text, count=1)
    if not count:
        print(f"{name}: no {START} marker", file=sys.stderr)
        sys.exit(1)
    f.seek(0)
    f.write(new)
    f.truncate()
print("unchanged" if new == text else "renewed", len(toc.splitlines()))
