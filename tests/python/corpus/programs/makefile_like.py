"""A small build: runs steps whose inputs are newer than their outputs."""

import graphlib
import os
import subprocess
import sys

RULES = {
    "out/all.txt": (["out/a.up", "out/b.up"], "cat {inputs} > {output}"),
    "out/a.up": (["a.txt"], "tr a-z A-Z < {inputs} > {output}"),
    "out/b.up": (["b.txt"], "tr a-z A-Z < {inputs} > {output}"),
}


def stale(target, inputs):
    return not os.path.exists(target) or any(
        os.path.getmtime(i) > os.path.getmtime(target) for i in inputs
    )


os.makedirs("out", exist_ok=True)
ran = 0
for target in graphlib.TopologicalSorter({t: i for t, (i, _) in RULES.items()}).static_order():
    if target not in RULES:
        if not os.path.exists(target):
            sys.exit(f"no rule to make {target}")
        continue
    inputs, command = RULES[target]
    if stale(target, inputs):
        command = command.format(inputs=" ".join(inputs), output=target)
        print("+", command, flush=True)
        subprocess.run(command, shell=True, check=True)
        ran += 1
print("nothing to do" if not ran else f"{ran} steps")
