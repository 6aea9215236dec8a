"""Render pages from Markdown-like sources into a folder: a static site generator in small."""

import html
import json
import re
import shutil
from pathlib import Path
from string import Template

SRC, OUT = Path("src"), Path("public")
page = (
    Template((SRC / "page.html").read_text())
    if (SRC / "page.html").exists()
    else Template("<h1>$title</h1>\n$body\n")
)


def render(text):
    for block in re.split(r"\n{2,}", text.strip()):
        if m := re.match(r"(#+) (.*)", block):
            yield f"<h{len(m[1])}>{html.escape(m[2])}</h{len(m[1])}>"
        elif block.startswith("- "):
            yield (
                "<ul>" + "".join(f"<li>{inline(i[2:])}</li>" for i in block.splitlines()) + "</ul>"
            )
        else:
            yield f"<p>{inline(block)}</p>"


def inline(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


shutil.rmtree(OUT, ignore_errors=True)
index = []
for source in sorted(SRC.rglob("*.md")):
    target = OUT / source.relative_to(SRC).with_suffix(".html")
    target.parent.mkdir(parents=True, exist_ok=True)
    body = list(render(source.read_text(encoding="utf-8")))
    target.write_text(page.substitute(title=source.stem, body="\n".join(body)), encoding="utf-8")
    index.append({"page": str(target.relative_to(OUT)), "blocks": len(body)})
(OUT / "index.json").write_text(json.dumps(index))
print(f"{len(index)} pages")
