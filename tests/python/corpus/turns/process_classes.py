"""Process classes."""

import multiprocessing as mp, sys, time


def work(q, n):
    time.sleep(0.01)
    q.put(n * n)


def consumer(q, out):
    while True:
        x = q.get()
        if x is None:
            break
        out.put(x + 1)


class P(mp.Process):
    def __init__(self, v):
        super().__init__()
        self.v = v

    def run(self):
        print("run", self.v, self.name)
        sys.stdout.flush()


def fail():
    raise ValueError("bad")


def ex():
    sys.exit(7)


G = []


def addg(x):
    G.append(x)
    print(G, flush=True)


if __name__ == "__main__":
    q, o = mp.Queue(), mp.Queue()
    c = mp.Process(target=consumer, args=(q, o))
    c.start()
    for i in range(3):
        q.put(i)
    q.put(None)
    c.join()
    print([o.get() for _ in range(3)], c.exitcode, c.name)
    p = P(5)
    p.start()
    p.join()
    p = mp.Process(target=fail)
    p.start()
    p.join()
    print(p.exitcode)
    p = mp.Process(target=ex)
    p.start()
    p.join()
    print(p.exitcode)
    p = mp.Process(target=time.sleep, args=(10,))
    for i in range(2):
        p = mp.Process(target=addg, args=(i,))
        p.start()
        p.join()
    print(G, mp.current_process().name)
    ctx = mp.get_context("spawn")
    p = ctx.Process(target=addg, args=(9,))
    p.start()
    p.join()
    print(len(mp.active_children()))
