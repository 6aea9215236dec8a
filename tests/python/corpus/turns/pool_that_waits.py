"""Pool that waits."""

from concurrent.futures import ThreadPoolExecutor, as_completed, wait, FIRST_COMPLETED, TimeoutError
import time, threading


def f(n, d):
    time.sleep(d)
    return n


t = time.time()
with ThreadPoolExecutor(5) as ex:
    fs = [ex.submit(f, i, 0.3 - 0.05 * i) for i in range(5)]
    print([x.result() for x in as_completed(fs)])
with ThreadPoolExecutor(2) as ex:
    a = ex.submit(f, "a", 0.2)
    b = ex.submit(f, "b", 0.02)
    c = ex.submit(f, "c", 0.01)
    d, n = wait([a, b], return_when=FIRST_COMPLETED)
    print(len(d), len(n), b in d)
    try:
        a.result(timeout=0.001)
    except TimeoutError:
        print("TO")
    print(a.running(), list(ex.map(f, [1, 2], [0.02, 0.01])))


def bad(x):
    time.sleep(0.001)
    raise KeyError(x)


with ThreadPoolExecutor() as ex:
    e = ex.submit(bad, "k")
    print(repr(e.exception()))


def outer():
    with ThreadPoolExecutor(1) as ex:
        return ex.submit(f, "in", 0.01).result()


with ThreadPoolExecutor(1) as ex:
    print(ex.submit(outer).result())
import asyncio


async def main():
    loop = asyncio.get_running_loop()
    t = time.time()
    r = await asyncio.gather(
        *[loop.run_in_executor(None, f, i, 0.1) for i in range(3)], asyncio.to_thread(f, "x", 0.1)
    )
    print(r)


asyncio.run(main())
