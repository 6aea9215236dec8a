"""A Markdown report of orders."""

import csv
import statistics
import sys
from datetime import date, datetime
from pathlib import Path
from string import Template

PAGE = Template("""# Report for $month

$rows

**Total:** $total — median $median, best customer *$best*
""")


def table(header, rows):
    widths = [max(len(str(r[i])) for r in [header, *rows]) for i in range(len(header))]

    def line(cells):
        return "| " + " | ".join(str(c).ljust(w) for c, w in zip(cells, widths)) + " |"

    return "\n".join(
        [line(header), "|" + "|".join("-" * (w + 2) for w in widths) + "|", *map(line, rows)]
    )


def main(path, month):
    orders = []
    with path.open(newline="") as f:
        for row in csv.DictReader(f):
            when = datetime.strptime(row["date"], "%Y-%m-%d").date()
            if (when.year, when.month) == (month.year, month.month):
                orders.append((when, row["customer"], round(float(row["amount"]), 2)))
    if not orders:
        sys.exit("no orders in that month")
    amounts = [a for *_, a in orders]
    best = max(orders, key=lambda o: o[2])[1]
    text = PAGE.substitute(
        month=f"{month:%B %Y}",
        rows=table(
            ("Day", "Customer", "Amount"),
            [(f"{d:%a %d}", c, f"{a:,.2f}") for d, c, a in sorted(orders)],
        ),
        total=f"{sum(amounts):,.2f}",
        median=statistics.median(amounts),
        best=best,
    )
    out = Path("reports") / f"{month:%Y-%m}.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text(text, encoding="utf-8")
    print(f"wrote {out} ({out.stat().st_size} bytes)")


if __name__ == "__main__":
    main(Path(sys.argv[1]), date.fromisoformat(sys.argv[2] + "-01"))
