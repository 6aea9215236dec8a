"""Pool as completed."""

from concurrent.futures import ThreadPoolExecutor, as_completed, wait, FIRST_COMPLETED
import time


def f(x):
    time.sleep(0.001 * x)
    if x == 3:
        raise ValueError("three")
    return x * 2


with ThreadPoolExecutor(max_workers=4) as ex:
    fs = {ex.submit(f, i): i for i in range(6)}
    got = {}
    for fu in as_completed(fs):
        try:
            got[fs[fu]] = fu.result()
        except Exception as e:
            got[fs[fu]] = repr(e)
print(sorted(got.items()))
with ThreadPoolExecutor() as ex:
    print(list(ex.map(str.upper, ["a", "b"], timeout=5)))
