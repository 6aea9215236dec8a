import difflib
import re
import shlex
import string
import textwrap
import unicodedata
from string import Formatter, Template

text = "The quick brown fox jumps over the lazy dog, and then it does so again and again."
print(textwrap.fill(text, 30, initial_indent="* ", subsequent_indent="  "))
print(
    textwrap.shorten(text, 30, placeholder="…"),
    repr(textwrap.dedent("  a\n    b\n  c")),
    textwrap.indent("a\n\nb", "> "),
)
print(
    difflib.get_close_matches("appel", ["ape", "apple", "peach"]),
    round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 3),
    difflib.SequenceMatcher(None, "ab", "acb").get_opcodes(),
)
print("\n".join(difflib.ndiff(["one", "two"], ["ore", "two", "tree"])))
print("\n".join(difflib.context_diff(["a"], ["b"], "old", "new", lineterm="")))
print(
    Template("$a ${b}c $$ $d").safe_substitute(a=1, b=2),
    [f[1] for f in Formatter().parse("{a} {b.c!r:>5}")],
    Template("$x").get_identifiers(),
)
m = re.search(r"(?P<y>\d{4})-(?P<m>\d\d)", "on 2024-05-06")
print(
    m.groupdict(),
    m.span("m"),
    m.expand(r"\g<m>/\1"),
    re.split(r"([,;])\s*", "a, b;c"),
    re.findall(r"(\w)(\d)?", "a1 b"),
    re.sub(r"\b(\w)", lambda m: m[1].upper(), "ab cd"),
    re.escape("a.b*"),
)
print(
    re.fullmatch(r"(?i)straße", "STRAßE"),
    re.findall(r"^\w+", "a\nb", re.M),
    re.sub(r"(?x) a  # comment\n b", "-", "ab"),
    [m.start() for m in re.finditer("(?=aa)", "aaaa")],
    re.match(r"(?>a+)b", "aaab"),
    re.sub("", "-", "ab"),
    re.compile(r"x*", re.A).flags,
    re.subn("a", "b", "aa"),
)
print(
    shlex.split("a 'b c' \"d e\" f\\ g # h", comments=True),
    shlex.quote("it's"),
    shlex.join(["a b", "c"]),
)
print(
    unicodedata.normalize("NFC", "e\u0301") == "é",
    unicodedata.name("✓"),
    unicodedata.category("Ⅷ"),
    unicodedata.numeric("½"),
    unicodedata.east_asian_width("漢"),
    "ﬁ".casefold(),
    "İ".lower().encode(),
    "①".isdigit(),
    "٣".isdecimal(),
    int("٣"),
    len("👩‍👩‍👧"),
    "é".isalnum(),
    unicodedata.bidirectional("א"),
)
print(
    "line1\r\nline2\x0bline3\u2028end".splitlines(),
    "a-b_c".title(),
    "x".zfill(5),
    "aaa".replace("a", "b", 2),
    "abc".removeprefix("a").removesuffix("c"),
    "%".join(["1", "2"]),
    "a\tb".isprintable(),
    "Straße".upper().casefold(),
)
for bad in (
    lambda: re.compile("["),
    lambda: re.compile("a{2,1}"),
    lambda: re.compile("(?P<n>a)(?P<n>b)"),
    lambda: re.compile("*a"),
    lambda: re.compile(r"\8"),
    lambda: Template("$").substitute(),
    lambda: Template("$a").substitute(),
    lambda: shlex.split("'a"),
    lambda: unicodedata.lookup("NO SUCH"),
    lambda: "{}{1}".format(1, 2),
    lambda: "{x}".format(),
    lambda: f"{1:q}",
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
