"""Layered settings: defaults, a file, the environment, the command line."""

import argparse
import json
import os
from types import SimpleNamespace


class KeyValue(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        found = dict(getattr(namespace, self.dest) or {})
        for pair in values:
            key, sep, value = pair.partition("=")
            if not sep:
                parser.error(f"{option_string}: expected KEY=VALUE, got {pair!r}")
            found[key] = value
        setattr(namespace, self.dest, found)


parser = argparse.ArgumentParser(fromfile_prefix_chars="@", add_help=False, allow_abbrev=False)
parser.add_argument("-h", "--help", action="help", help="show this text")
parser.add_argument("--config", metavar="FILE")
parser.add_argument("--set", nargs="+", action=KeyValue, dest="pairs", metavar="KEY=VALUE")
parser.add_argument("-v", action="count", default=0, dest="verbose")
parser.add_argument("--colour", action=argparse.BooleanOptionalAction, default=True)
args, rest = parser.parse_known_args()
settings = {"host": "localhost", "port": "80"}
if args.config:
    with open(args.config) as f:
        settings |= json.load(f)
settings |= {k[4:].lower(): v for k, v in sorted(os.environ.items()) if k.startswith("APP_")}
settings |= args.pairs or {}
print(json.dumps(settings, sort_keys=True), args.verbose, args.colour, rest)
print(SimpleNamespace(**settings).port)
