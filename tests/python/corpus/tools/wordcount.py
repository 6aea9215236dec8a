#!/usr/bin/env python3
"""Count words in files or standard input."""

import argparse
import collections
import re
import sys


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files",
        nargs="*",
        type=argparse.FileType("r", encoding="utf-8"),
        default=[sys.stdin],
        help="files to read (default: standard input)",
    )
    parser.add_argument(
        "-n", "--top", type=int, default=5, help="how many words (default: %(default)s)"
    )
    parser.add_argument("-m", "--min-length", type=int, default=1, metavar="N")
    parser.add_argument("--version", action="version", version="%(prog)s 1.2")
    args = parser.parse_args(argv)
    if args.top < 1:
        parser.error("--top must be positive")
    counter = collections.Counter()
    for file in args.files:
        with file:
            counter.update(
                w.lower() for w in re.findall(r"\w+", file.read()) if len(w) >= args.min_length
            )
    for word, count in sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))[: args.top]:
        print(f"{count:6d} {word}")
    return 0 if counter else 1


if __name__ == "__main__":
    raise SystemExit(main())
