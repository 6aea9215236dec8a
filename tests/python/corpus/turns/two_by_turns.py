"""Two by turns."""

import threading, time

order = []


def a():
    for i in range(3):
        order.append(("a", i))
        time.sleep(0.04)


def b():
    time.sleep(0.02)
    for i in range(3):
        order.append(("b", i))
        time.sleep(0.04)


ts = [threading.Thread(target=f) for f in (a, b)]
for t in ts:
    t.start()
for t in ts:
    t.join()
print(order)
