"""Much output."""

import subprocess, threading

p = subprocess.Popen(
    ["sh", "-c", "yes line | head -n 30000; echo e >&2"],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
)
n = [0]


def rd():
    for _ in p.stdout:
        n[0] += 1


t = threading.Thread(target=rd)
t.start()
print(p.wait())
t.join()
print(n)
