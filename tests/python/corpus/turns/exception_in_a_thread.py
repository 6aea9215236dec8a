"""Exception in a thread."""

import threading


def boom():
    raise ValueError("in thread")


t = threading.Thread(target=boom, name="T")
t.start()
t.join()
print("after")


def loop():
    x = 0
    while x < 100000:
        x += 1
    print(x)


ts = [threading.Thread(target=loop) for _ in range(2)]
[t.start() for t in ts]
[t.join() for t in ts]
