import sys

import yaml

try:
    documents = list(yaml.safe_load_all(open(sys.argv[1], encoding="utf-8")))
except yaml.YAMLError as error:
    print(f"bad YAML at line {error.problem_mark.line + 1}: {error.problem}", file=sys.stderr)
    raise SystemExit(1)
for document in documents:
    print(type(document).__name__, document)
print(
    yaml.safe_dump(
        {"b": [1, 2.5, None, True], "a": {"text": "two\nlines", "u": "ü", "no": "no"}},
        allow_unicode=True,
        sort_keys=True,
    ),
    end="",
)
