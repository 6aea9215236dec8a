"""Daemon worker."""

import threading, queue

q = queue.Queue()


def work():
    while True:
        i = q.get()
        print("item", i)
        q.task_done()


threading.Thread(target=work, daemon=True).start()
for i in range(5):
    q.put(i)
q.join()
print("done")
