"""Events conditions barriers."""

import threading, time

e = threading.Event()
r = []


def waiter():
    e.wait()
    r.append("woke")


t = threading.Thread(target=waiter, name="W")
t.start()
e.set()
t.join()
print(r, t.name, threading.active_count(), threading.current_thread().name)
c = threading.Condition()
items = []


def cons():
    with c:
        while not items:
            c.wait()
        print("got", items.pop())


t = threading.Thread(target=cons)
t.start()
with c:
    items.append(1)
    c.notify()
t.join()
b = threading.Barrier(2)


def at(i):
    b.wait()
    r.append(i)


ts = [threading.Thread(target=at, args=(i,)) for i in range(2)]
[t.start() for t in ts]
[t.join() for t in ts]
print(sorted(map(str, r)))
tm = threading.Timer(0.05, lambda: print("timer"))
tm.start()
tm.join()
l = threading.local()
l.x = 1
print(l.x)
s = threading.Semaphore(1)
with s:
    print("sem")
