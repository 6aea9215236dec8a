import argparse, pathlib, sys, json

p = argparse.ArgumentParser(description="Tool")
sub = p.add_subparsers(dest="cmd", required=True)
a = sub.add_parser("add", help="add it")
a.add_argument("nums", type=int, nargs="+")
a.add_argument("--json", action="store_true")
b = sub.add_parser("cat")
b.add_argument("file", type=pathlib.Path)
b.add_argument("-n", type=int, default=1, choices=[1, 2])
ns = p.parse_args()
print(json.dumps({"sum": sum(ns.nums)}) if ns.json else sum(ns.nums))
