import asyncio, time


async def w(n, d):
    await asyncio.sleep(d)
    return n


async def main():
    print(await asyncio.gather(w(1, 0.02), w(2, 0.01)))
    async with asyncio.TaskGroup() as tg:
        t = [tg.create_task(w(i, 0.001)) for i in range(3)]
    print([x.result() for x in t])
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(1)
    except TimeoutError:
        print("to")
    q = asyncio.Queue()

    async def prod():
        for i in range(3):
            await q.put(i)
        await q.put(None)

    async def cons():
        r = []
        while (x := await q.get()) is not None:
            r.append(x)
        return r

    print((await asyncio.gather(prod(), cons()))[1])
    s = asyncio.Semaphore(2)

    async def lim(i):
        async with s:
            await asyncio.sleep(0.001)
            return i

    print(await asyncio.gather(*map(lim, range(5))))
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, sum, [1, 2]))
    for f in asyncio.as_completed([w("b", 0.02), w("a", 0.005)]):
        print(await f)
    ev = asyncio.Event()
    loop.call_later(0.01, ev.set)
    await ev.wait()
    print("set")
    print((await asyncio.gather(w(1, 0), asyncio.to_thread(lambda: 1 / 0), return_exceptions=True)))


asyncio.run(main())
