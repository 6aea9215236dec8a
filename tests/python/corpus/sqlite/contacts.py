#!/usr/bin/env python3
"""An address book in SQLite."""

import argparse
import csv
import sqlite3
import sys
from contextlib import closing


def connect(path):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    db.execute(
        "CREATE TABLE IF NOT EXISTS contact (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT UNIQUE CHECK (mail LIKE '%@%'))"
    )
    return db


p = argparse.ArgumentParser()
p.add_argument("--db", default="book.db")
p.add_argument("command", choices=["add", "find", "export", "import"])
p.add_argument("rest", nargs="*")
a = p.parse_args()
with closing(connect(a.db)) as db:
    try:
        with db:
            if a.command == "add":
                cursor = db.execute("INSERT INTO contact (name, mail) VALUES (?, ?)", a.rest)
                print("added", cursor.lastrowid)
            elif a.command == "import":
                db.executemany(
                    "INSERT INTO contact (name, mail) VALUES (:name, :mail)",
                    csv.DictReader(open(a.rest[0])),
                )
                print(db.total_changes, "rows")
    except sqlite3.IntegrityError as e:
        sys.exit(f"contacts: {e}")
    if a.command == "find":
        for row in db.execute(
            "SELECT * FROM contact WHERE name LIKE ? ORDER BY name", (f"%{a.rest[0]}%",)
        ):
            print(dict(row))
    elif a.command == "export":
        w = csv.writer(sys.stdout, lineterminator="\n")
        w.writerows(db.execute("SELECT name, mail FROM contact ORDER BY id"))
