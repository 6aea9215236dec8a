"""A data analyst's turn: a CSV file, pandas, a plot and a report, in the sandbox.

Run: make demo-python. Needs the extra `python`, and `agentsandbox python prepare` once a machine.
"""

from __future__ import annotations

import sys

from agentsandbox import Limits, Sandbox
from agentsandbox.python import PythonRuntime

SALES = "month,region,amount\n" + "".join(
    f"2026-{month:02},{region},{100 + month * 7 % 40 + len(region) * 3}\n"
    for month in range(1, 13)
    for region in ("north", "south", "east")
)

ANALYSIS = """\
import matplotlib
import pandas as pd

matplotlib.use("Agg")
sales = pd.read_csv("sales.csv", parse_dates=["month"])
table = sales.pivot_table(index="month", columns="region", values="amount")
table.plot(title="Sales by region").figure.savefig("sales.png")
best = sales.groupby("region").amount.sum().idxmax()
with open("report.md", "w") as report:
    report.write("# Sales 2026\\n\\n")
    for region, total in sales.groupby("region").amount.sum().items():
        report.write(f"- {region}: {total}\\n")
    report.write(f"\\nThe best region is **{best}**. ![plot](sales.png)\\n")
"""


def main() -> int:
    """Run the turn and print what the agent and its user would see."""
    runtime = PythonRuntime()
    status = runtime.status()
    if not status.ready:
        print(f"python3 is not available: {status.reason}", file=sys.stderr)
        return 1
    files = {"sales.csv": SALES, "analysis.py": ANALYSIS}
    with Sandbox(python=runtime, files=files, limits=Limits(timeout=60)) as sandbox:
        print(sandbox.execute("head -n 3 sales.csv; python3 -V").output, end="")
        result = sandbox.execute("python3 analysis.py && cat report.md").check()
        print(result.stdout, end="")
        for path, data in result.pictures.items():
            print(f"{path}: a picture, {data[1:4].decode()}")
        # The shell and Python work on the same files, in one pipeline if you like.
        script = "python3 -c 'import csv, sys; [print(r[2]) for r in csv.reader(sys.stdin)]'"
        print(sandbox.execute(f"tail -n +2 sales.csv | {script} | paste -sd+ | bc").stdout, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
