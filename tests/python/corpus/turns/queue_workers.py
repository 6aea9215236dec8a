"""Queue workers."""

import threading, queue

q = queue.Queue()
out = []
lock = threading.Lock()


def work():
    while True:
        i = q.get()
        if i is None:
            q.task_done()
            break
        with lock:
            out.append(i * i)
        q.task_done()


ts = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in ts]
for i in range(10):
    q.put(i)
q.join()
for _ in ts:
    q.put(None)
[t.join() for t in ts]
print(sorted(out), [t.is_alive() for t in ts])
