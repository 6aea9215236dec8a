import csv, sys, io

rows = [{"n": "a,b", "v": "1"}, {"n": 'q"x', "v": "é"}]
w = csv.DictWriter(sys.stdout, ["n", "v"], lineterminator="\n")
w.writeheader()
w.writerows(rows)
print(
    list(csv.reader(io.StringIO('a;"b;c"'), delimiter=";")),
    csv.Sniffer().sniff("a\tb\n1\t2\n").delimiter,
)
with open("o.csv", "w", newline="", encoding="utf-8-sig") as f:
    csv.writer(f, quoting=csv.QUOTE_NONNUMERIC).writerow([1, "x"])
print(open("o.csv", "rb").read())
