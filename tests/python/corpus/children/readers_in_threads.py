"""Readers in threads."""

import subprocess, sys, threading

p = subprocess.Popen(
    ["sh", "-c", "for i in 1 2 3; do echo out $i; echo err $i >&2; done"],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
)
out, err = [], []


def rd(s, l):
    for x in s:
        l.append(x.strip())
    s.close()


ts = [
    threading.Thread(target=rd, args=(p.stdout, out)),
    threading.Thread(target=rd, args=(p.stderr, err)),
]
[t.start() for t in ts]
print(p.wait())
[t.join() for t in ts]
print(out, err)
