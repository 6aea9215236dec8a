import asyncio
import sys
import time


async def work(name, delay, fail=False):
    await asyncio.sleep(delay)
    if fail:
        raise ValueError(name)
    return f"{name} done"


async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class Session:
    async def __aenter__(self):
        print("open")
        return self

    async def __aexit__(self, *exc):
        print("close", exc[0])


async def worker(name, queue, results):
    while True:
        item = await queue.get()
        results.append((item, item**2))
        queue.task_done()


async def main():
    began = time.monotonic()
    print(await asyncio.gather(work("a", 0.03), work("b", 0.01), work("c", 0.02)))
    print(0.025 < time.monotonic() - began < 1)
    print(
        [i async for i in numbers(3)],
        await asyncio.gather(work("x", 0), work("y", 0, True), return_exceptions=True),
    )
    async with Session():
        for t in asyncio.as_completed([work("slow", 0.03), work("fast", 0.01)]):
            print(await t)
    try:
        async with asyncio.timeout(0.02):
            await asyncio.sleep(5)
    except TimeoutError:
        print("timed out")
    queue, results = asyncio.Queue(), []
    tasks = [asyncio.create_task(worker(i, queue, results)) for i in range(2)]
    for i in range(4):
        queue.put_nowait(i)
    await queue.join()
    for t in tasks:
        t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(sorted(results), [t.cancelled() for t in tasks])
    lock, event, sem = asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(2)
    async with lock, sem:
        asyncio.get_running_loop().call_later(0.01, event.set)
        await event.wait()
    print(event.is_set(), lock.locked())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(work("ok", 0.01))
            group.create_task(work("bad", 0, True))
    except* ValueError as e:
        print("group", e.exceptions)
    future = asyncio.get_running_loop().create_future()
    future.set_result(5)
    print(await future, await asyncio.wait_for(work("w", 0), 1), await asyncio.shield(work("s", 0)))
    done, pending = await asyncio.wait(
        [asyncio.create_task(work("1", 0)), asyncio.create_task(work("2", 1))],
        return_when=asyncio.FIRST_COMPLETED,
    )
    print(len(done), len(pending))
    if "fail" in sys.argv:
        await work("the end", 0, True)
    return "finished"


print(asyncio.run(main()))
