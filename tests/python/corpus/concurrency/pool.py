import concurrent.futures as cf
import sys
import time


def square(n):
    if n == 13:
        raise ValueError("unlucky")
    return n * n


with cf.ThreadPoolExecutor(max_workers=4) as pool:
    print(list(pool.map(square, range(6))))
    futures = {pool.submit(square, n): n for n in (2, 13, 4)}
    found = []
    for future in cf.as_completed(futures):
        try:
            found.append((futures[future], future.result()))
        except ValueError as e:
            found.append((futures[future], repr(e)))
    print(sorted(found))
    f = pool.submit(pow, 2, 5)
    f.add_done_callback(lambda f: print("callback", f.result()))
    print(f.result(timeout=5), f.done())
    done, rest = cf.wait([pool.submit(square, 3)])
    print(len(done), len(rest))
try:
    pool.submit(square, 1)
except RuntimeError as e:
    print(e)
