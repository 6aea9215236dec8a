import json
from datetime import date
from decimal import Decimal


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, date):
            return o.isoformat()
        if isinstance(o, set):
            return sorted(o)
        return super().default(o)


print(json.dumps({"d": date(2024, 2, 29), "s": {3, 1, 2}, "n": None, "t": True}, cls=Encoder))
print(json.dumps([1.0, 1e100, float("inf"), float("nan"), -0.0, 10**25, "é\u2028\U0001f600\x00"]))
print(json.dumps("é\U0001f600", ensure_ascii=False), json.dumps({1: 2, None: 3, False: 4}))
print(
    json.loads("[1.10, 2]", parse_float=Decimal),
    json.loads('{"a":1,"a":2}', object_pairs_hook=list),
)
print(json.loads("NaN"), json.loads('"\\ud83d\\ude00"'), json.loads(b"\xff\xfe[\x001\x00]\x00"))
for bad in [
    "",
    "[1,]",
    "{'a':1}",
    '{"a" 1}',
    "[1 2]",
    '"\t"',
    "nul",
    '{"a":1} x',
    '"\\x"',
    "[" * 5,
]:
    try:
        json.loads(bad)
        print("accepted", bad)
    except json.JSONDecodeError as e:
        print(repr(bad), "->", type(e).__name__, e.lineno, e.colno)
json.dumps({"x": object})
