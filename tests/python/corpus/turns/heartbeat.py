"""Heartbeat."""

import threading, time


def hb(stop):
    while not stop.is_set():
        time.sleep(0.005)


stop = threading.Event()
t = threading.Thread(target=hb, args=(stop,), daemon=True)
t.start()
x = sum(range(100000))
print(x)
