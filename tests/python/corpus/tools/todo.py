#!/usr/bin/env python3
"""Keep a to-do list in a JSON file."""

import argparse
import json
import sys
from pathlib import Path

STORE = Path("todo.json")


def read():
    if not STORE.exists():
        return []
    return json.loads(STORE.read_text(encoding="utf-8"))


def write(entries):
    STORE.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def add(args):
    entries = read()
    entries.append({"text": " ".join(args.words), "priority": args.priority, "done": False})
    write(entries)
    print(f"added #{len(entries)}: {entries[-1]['text']}")


def show(args):
    entries = read()
    for number, entry in enumerate(entries, 1):
        if args.all or not entry["done"]:
            mark = "x" if entry["done"] else " "
            print(f"[{mark}] {number:>2}. {entry['text']} ({entry['priority']})")
    if not entries:
        print("nothing to do")


def done(args):
    entries = read()
    try:
        entries[args.number - 1]["done"] = True
    except IndexError:
        sys.exit(f"todo: no entry {args.number}")
    write(entries)


def main():
    parser = argparse.ArgumentParser(prog="todo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("add", help="add an entry")
    one.add_argument("words", nargs="+")
    one.add_argument("-p", "--priority", choices=["low", "normal", "high"], default="normal")
    one.set_defaults(call=add)
    one = commands.add_parser("list", help="list what is open")
    one.add_argument("-a", "--all", action="store_true", help="list what is done, too")
    one.set_defaults(call=show)
    one = commands.add_parser("done", help="mark an entry as done")
    one.add_argument("number", type=int)
    one.set_defaults(call=done)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
