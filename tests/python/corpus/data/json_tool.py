"""Query, validate and merge JSON files."""

import argparse
import json
import sys


def dig(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def merge(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return {
            k: merge(a[k], b[k]) if k in a and k in b else b.get(k, a.get(k)) for k in {**a, **b}
        }
    return a + b if isinstance(a, list) and isinstance(b, list) else b


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("action", choices=("get", "check", "merge"))
    p.add_argument("arguments", nargs="+")
    args = p.parse_args()
    if args.action == "get":
        with open(args.arguments[0], "rb") as f:
            print(json.dumps(dig(json.load(f), args.arguments[1])))
    elif args.action == "check":
        bad = 0
        for name in args.arguments:
            try:
                with open(name, encoding="utf-8") as f:
                    json.load(f)
                print(f"{name}: ok")
            except json.JSONDecodeError as e:
                bad += 1
                print(f"{name}:{e.lineno}:{e.colno}: {e.msg} (char {e.pos})")
            except UnicodeDecodeError as e:
                bad += 1
                print(f"{name}: {e.reason} at {e.start}")
        sys.exit(bad > 0)
    else:
        result = {}
        for name in args.arguments:
            result = merge(result, json.load(open(name, encoding="utf-8")))
        print(json.dumps(result, indent=2, sort_keys=True))


main()
