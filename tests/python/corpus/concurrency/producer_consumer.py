"""Threads that wait for one another through a queue."""

import queue
import threading

jobs, results = queue.Queue(maxsize=2), queue.Queue()


def consumer():
    while (job := jobs.get()) is not None:
        results.put(job * 10)
        jobs.task_done()


threads = [threading.Thread(target=consumer) for _ in range(2)]
for t in threads:
    t.start()
for i in range(6):
    jobs.put(i)
for _ in threads:
    jobs.put(None)
for t in threads:
    t.join()
print(sorted(results.get() for _ in range(results.qsize())))
