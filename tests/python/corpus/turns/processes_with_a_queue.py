"""Processes with a queue."""

from multiprocessing import Process, Queue


def work(q, n):
    q.put((n, n * n))


if __name__ == "__main__":
    q = Queue()
    ps = [Process(target=work, args=(q, i)) for i in range(3)]
    [p.start() for p in ps]
    r = sorted(q.get() for _ in ps)
    [p.join() for p in ps]
    print(r, [p.exitcode for p in ps])
