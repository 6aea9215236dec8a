import configparser
import json
import plistlib
import sys
import tomllib

ini = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
ini.read_string("""
[DEFAULT]
base = /srv
[web]
root = ${base}/www
port = 8080
debug = yes
list =
    a
    b
[db]
; comment
url : sqlite:///${web:root}/x.db
""")
print(
    ini.sections(),
    ini["web"]["root"],
    ini.getint("web", "port"),
    ini["web"].getboolean("debug"),
    ini["web"]["list"].split(),
    ini["db"]["url"],
    ini.get("db", "none", fallback="?"),
)
ini["new"] = {"k": "v"}
with open("out.ini", "w") as f:
    ini.write(f)
doc = tomllib.loads("""
title = "T"
when = 2024-01-02T03:04:05Z
[a.b]
n = 1_000
f = 6.02e23
s = '''raw
text'''
[[list]]
x = {y = [1, 2]}
""")
print(doc)
print(
    plistlib.loads(plistlib.dumps({"a": [1, True, b"x"]})),
    plistlib.dumps({"k": 1}, fmt=plistlib.FMT_BINARY)[:8],
)
for name, read in (
    ("bad toml", lambda: tomllib.loads("a = \n")),
    ("twice", lambda: tomllib.loads("a = 1\na = 2")),
    ("no header", lambda: configparser.ConfigParser().read_string("a=1")),
    ("bool", lambda: ini["web"].getboolean("port")),
    ("section", lambda: ini.get("none", "x")),
    ("option", lambda: ini.get("web", "x")),
    ("int", lambda: ini.getint("web", "root")),
    ("dup", lambda: ini.read_string("[q]\na=1\na=2")),
):
    try:
        print(name, read())
    except Exception as e:
        print(name, type(e).__name__, str(e).replace("\n", "|"))
with open(sys.argv[1], "rb") as f:
    print(tomllib.load(f)["project"]["name"])
