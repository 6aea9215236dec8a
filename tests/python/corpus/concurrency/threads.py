import queue
import threading
import time

lock = threading.Lock()
total = 0


def add(n):
    global total
    for _ in range(n):
        with lock:
            total += 1


threads = [threading.Thread(target=add, args=(1000,), name=f"t{i}") for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(
    total,
    [t.name for t in threads],
    any(t.is_alive() for t in threads),
    threading.current_thread().name,
)
results = []


class Worker(threading.Thread):
    def run(self):
        results.append("ran")


w = Worker(daemon=True)
w.start()
w.join(1)
local = threading.local()
local.x = 1
event = threading.Event()
setter = threading.Thread(target=event.set)
setter.start()
print(
    event.wait(1),
    results,
    local.x,
    threading.active_count() >= 1,
    isinstance(threading.get_ident(), int),
)
r = threading.RLock()
with r, r:
    print("reentrant", threading.main_thread() is threading.current_thread())
q = queue.Queue()
for i in range(3):
    q.put(i)
print([q.get() for _ in range(q.qsize())], q.empty())


def fails():
    raise ValueError("in a thread")


t = threading.Thread(target=fails, name="failing")
t.start()
t.join()
print("the main thread goes on")
