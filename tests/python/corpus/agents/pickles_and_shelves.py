import pickle, copy, shelve, dbm, marshal, json, os


class A:
    def __init__(s, x):
        s.x = x

    def __eq__(s, o):
        return s.x == o.x


print(pickle.loads(pickle.dumps(A([1]))) == A([1]), copy.deepcopy({"a": [1]}))
with shelve.open("sh") as s:
    s["k"] = {"v": 1}
with shelve.open("sh") as s:
    print(dict(s))
for f in os.listdir():
    if f.startswith("sh"):
        os.remove(f)
