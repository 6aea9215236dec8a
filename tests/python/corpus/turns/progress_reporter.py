"""Progress reporter."""

import threading, time, sys

progress = 0
done = threading.Event()


def report():
    while not done.wait(0.01):
        pass
    print("final", progress)


t = threading.Thread(target=report)
t.start()
for i in range(5):
    progress += 1
    time.sleep(0.005)
done.set()
t.join()
