"""Producer consumer."""

import threading, queue, time

q = queue.Queue(maxsize=2)
res = []


def producer():
    for i in range(6):
        q.put(i)
    q.put(None)


def consumer():
    while (x := q.get()) is not None:
        res.append(x)


p = threading.Thread(target=producer)
c = threading.Thread(target=consumer)
p.start()
c.start()
p.join()
c.join()
print(res)
