import urllib.parse as u, xml.etree.ElementTree as ET, html, base64, configparser, io, tomllib, zipfile, gzip, bz2, lzma, tarfile, struct, textwrap, string

print(
    u.urlparse("https://a.b:8/p;x?q=1#f"),
    u.quote("a b/ü"),
    u.urlencode({"a": [1, 2]}, doseq=True),
    u.urljoin("http://x/a/b", "../c"),
    u.parse_qs("a=1&a=2"),
)
r = ET.fromstring('<a><b k="v">t</b><b/></a>')
ET.SubElement(r, "c").text = "ü<"
ET.indent(r)
print(ET.tostring(r, encoding="unicode"), [e.tag for e in r.iter()], r.find("b[@k]").text)
print(html.unescape("&lt;&eacute;"), base64.b64encode(b"abc"), base64.urlsafe_b64decode("_-8="))
c = configparser.ConfigParser()
c.read_string("[a]\nx=1\ny=%(x)s2\n")
print(dict(c["a"]))
c.write(open("c.ini", "w"))
print(tomllib.loads("a=1\n[b]\nc=[1,2]\nd=2024-01-02"))
with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a/b.txt", "hi")
    z.write(__file__, "s.py")
print(zipfile.ZipFile("z.zip").namelist(), zipfile.is_zipfile("z.zip"))
import os

os.remove("z.zip")
for m in (gzip, bz2, lzma):
    print(m.decompress(m.compress(b"x" * 100)) == b"x" * 100)
print(
    struct.pack(">IhQ", 1, -2, 3).hex(),
    textwrap.fill("the quick brown fox " * 4, 30),
    string.Template("$a-${b}").substitute(a=1, b=2),
)
