"""Pool names."""

from concurrent.futures import ThreadPoolExecutor
import threading, time

q = []


def task(n):
    time.sleep(0.001)
    q.append(threading.current_thread().name[:20])
    return n


with ThreadPoolExecutor(max_workers=3, thread_name_prefix="tp") as ex:
    f = [ex.submit(task, i) for i in range(5)]
    f[0].add_done_callback(lambda f: print("cb", f.result()))
print(sorted(x.result() for x in f), all(n.startswith("tp") for n in q))
