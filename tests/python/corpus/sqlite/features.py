import datetime
import math
import sqlite3

db = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
db.executescript("""
CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB);
INSERT INTO t VALUES (1, 1.5, 'x', x'00ff'), (2, NULL, 'ü', NULL), (3, 2.5, 'x', zeroblob(2));
""")
print(
    db.execute("SELECT * FROM t").fetchall(),
    db.execute(
        "SELECT c, count(*), avg(b), group_concat(a, '+') FROM t GROUP BY c ORDER BY 1"
    ).fetchall(),
)
db.create_function("half", 1, lambda x: x / 2, deterministic=True)


class Longest:
    def __init__(self):
        self.best = ""

    def step(self, v):
        self.best = max(self.best, v, key=len)

    def finalize(self):
        return self.best


db.create_aggregate("longest", 1, Longest)
db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
print(
    db.execute("SELECT half(5), longest(v) FROM (SELECT 'a' v UNION SELECT 'abc')").fetchone(),
    db.execute("SELECT column1 FROM (VALUES ('a'), ('b')) ORDER BY 1 COLLATE backwards").fetchall(),
)
print(
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i, sum(i) OVER (ORDER BY i) FROM n"
    ).fetchall()
)
print(
    db.execute(
        "SELECT json_extract('{\"a\": [1, 2]}', '$.a[1]'), upper('é'), date('2024-01-31', '+1 month'), printf('%.2f', 1.5)"
    ).fetchone()
)
db.execute("CREATE VIRTUAL TABLE docs USING fts5(body)")
db.executemany("INSERT INTO docs VALUES (?)", [("the quick fox",), ("a slow dog",)])
print(
    db.execute(
        "SELECT rowid, highlight(docs, 0, '[', ']') FROM docs WHERE docs MATCH 'quick'"
    ).fetchall()
)
try:
    with db:
        db.execute("INSERT INTO t (a) VALUES (9)")
        raise RuntimeError("roll back")
except RuntimeError:
    print(db.execute("SELECT count(*) FROM t").fetchone(), db.in_transaction)
print(list(db.iterdump())[1], [d[0] for d in db.execute("SELECT a AS x, b FROM t").description])
other = sqlite3.connect("copy.db")
db.backup(other)
print(
    other.execute("PRAGMA table_info(t)").fetchone(),
    other.execute("PRAGMA integrity_check").fetchone(),
)
other.close()
for sql in ("SELEC 1", "SELECT * FROM none", "INSERT INTO t VALUES (1)", "SELECT ?"):
    try:
        db.execute(sql)
    except sqlite3.Error as e:
        print(type(e).__name__, e)
db.close()
db.execute("SELECT 1")
