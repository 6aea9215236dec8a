"""Read a feed, print its entries, write it back with one more."""

import sys
import xml.etree.ElementTree as ET
from xml.dom import minidom
from xml.sax.saxutils import escape, quoteattr

NS = {"a": "urn:feed"}
ET.register_namespace("", "urn:feed")
try:
    tree = ET.parse(sys.argv[1])
except ET.ParseError as error:
    print("not well-formed:", error, error.position)
    sys.exit(3)
root = tree.getroot()
for entry in root.findall("a:entry", NS):
    print(entry.get("id"), "|", entry.findtext("a:title", default="?", namespaces=NS).strip())
new = ET.SubElement(root, "{urn:feed}entry", id="new")
ET.SubElement(new, "{urn:feed}title").text = "A <new> & 'quoted' one – ü"
ET.indent(tree)
tree.write("out.xml", encoding="utf-8", xml_declaration=True)
print(minidom.parse("out.xml").documentElement.getElementsByTagName("title").length)
print(escape("a<b&c"), quoteattr('say "hi"'))
for event, element in ET.iterparse("out.xml", events=("start", "end")):
    print(event, element.tag.rpartition("}")[2], end="; ")
print()
print(minidom.parseString("<a><b x='1'>t</b><!-- c --></a>").toprettyxml(indent=" "))
