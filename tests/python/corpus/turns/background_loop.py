"""Background loop."""

import threading, time, sys

stop = threading.Event()


def spin():
    while not stop.is_set():
        time.sleep(0.01)


t = threading.Thread(target=spin, daemon=True)
t.start()
time.sleep(0.03)
print("work")
stop.set()
t.join(timeout=2)
print(t.is_alive())
