import json

try:
    json.loads('{"a": }')
except json.JSONDecodeError as e:
    print(e, e.lineno, e.colno)
x = {}
print(x["missing"])
