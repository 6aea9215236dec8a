import html
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin


class Links(HTMLParser):
    def __init__(self, base):
        super().__init__()
        self.base, self.depth, self.text, self.found = base, 0, [], []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.depth += 1
            self.found.append([urljoin(self.base, dict(attrs).get("href") or ""), ""])

    def handle_endtag(self, tag):
        if tag == "a" and self.depth:
            self.depth -= 1

    def handle_data(self, data):
        if self.depth:
            self.found[-1][1] += data


parser = Links("https://site.test/docs/")
parser.feed(sys.stdin.read())
parser.close()
for url, text in parser.found:
    print(f"- [{' '.join(text.split())}]({url})")
print(html.escape("<a href='x'>"), html.unescape("&lt;&eacute;&#8364;&notanentity;"))
