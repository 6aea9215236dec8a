import csv
import io
import json
import sys

text = sys.stdin.read()
dialect = csv.Sniffer().sniff(text, delimiters=",;\t")
rows = list(csv.DictReader(io.StringIO(text), dialect=dialect))
print("delimiter", repr(dialect.delimiter), "header", csv.Sniffer().has_header(text))
json.dump(rows, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
print()
with open("out.tsv", "w", newline="") as f:
    w = csv.DictWriter(f, fieldnames=list(rows[0]), dialect="excel-tab", extrasaction="ignore")
    w.writeheader()
    w.writerows(rows)
with open("quoted.csv", "w", newline="") as f:
    w = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC, quotechar="'")
    w.writerow(["it's", 1, 2.5, None, "a\nb"])
