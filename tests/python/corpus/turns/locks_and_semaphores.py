"""Locks and semaphores."""

import threading, time

lock = threading.RLock()
n = 0


def inc(k):
    global n
    for _ in range(k):
        with lock:
            v = n
            time.sleep(0)
            n = v + 1


ts = [threading.Thread(target=inc, args=(50,)) for _ in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
print(n)
sem = threading.Semaphore(2)
act = [0, 0]


def w():
    with sem:
        act[0] += 1
        act[1] = max(act)
        time.sleep(0.01)
        act[0] -= 1


ts = [threading.Thread(target=w) for _ in range(5)]
[t.start() for t in ts]
[t.join() for t in ts]
print(act[1] <= 2)
c = threading.Condition()
box = []


def prod():
    for i in range(3):
        with c:
            box.append(i)
            c.notify()
            time.sleep(0.001)


def cons():
    got = []
    while len(got) < 3:
        with c:
            c.wait_for(lambda: box, timeout=1)
            got.append(box.pop(0))
    print(got)


ts = [threading.Thread(target=f) for f in (cons, prod)]
[t.start() for t in ts]
[t.join() for t in ts]
