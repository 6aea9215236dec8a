"""Reader and queue."""

import subprocess, threading, queue, sys

p = subprocess.Popen(
    [sys.executable, "-u", "-c", 'import sys\nfor l in sys.stdin: print("echo:",l.strip())'],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
    bufsize=1,
)
q = queue.Queue()


def reader():
    for line in p.stdout:
        q.put(line)


t = threading.Thread(target=reader, daemon=True)
t.start()
for w in ["one", "two"]:
    p.stdin.write(w + "\n")
    p.stdin.flush()
    print(q.get(timeout=5).strip())
p.stdin.close()
print(p.wait(timeout=5))
