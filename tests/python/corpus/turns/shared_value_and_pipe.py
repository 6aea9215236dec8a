"""Shared value and pipe."""

import multiprocessing as mp


def inc(c):
    for _ in range(10):
        with c.get_lock():
            c.value += 1


def fail():
    raise ValueError("bad")


if __name__ == "__main__":
    c = mp.Value("i", 0)
    ps = [mp.Process(target=inc, args=(c,)) for _ in range(2)]
    [p.start() for p in ps]
    [p.join() for p in ps]
    print(c.value)
    a, b = mp.Pipe()
    a.send({"x": 1})
    print(b.recv())
