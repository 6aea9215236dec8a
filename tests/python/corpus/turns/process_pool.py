"""Process pool."""

from multiprocessing import Pool, cpu_count
import os


def sq(x):
    return x * x


def add(a, b):
    return a + b


if __name__ == "__main__":
    with Pool(processes=min(4, cpu_count())) as p:
        print(p.map(sq, range(5)))
        print(p.starmap(add, [(1, 2), (3, 4)]))
        print(p.apply_async(sq, (3,)).get(timeout=5))
        print(sorted(p.imap_unordered(sq, range(4))))
        print(list(p.imap(sq, range(3), chunksize=2)))
    p = Pool(2)
    r = p.map_async(sq, [1, 2])
    p.close()
    p.join()
    print(r.get(), r.successful())
