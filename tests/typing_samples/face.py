"""What a type checker must accept, and must refuse: exactly the lines that end in "# refused".

Read by `tests/test_types.py`; never run.
"""

from agentsandbox import (
    Change,
    ExecutionResult,
    Limits,
    NetworkPolicy,
    Sandbox,
    SandboxManager,
    SandboxOptions,
    Stats,
)


def right(options: SandboxOptions) -> None:
    sandbox = Sandbox("a", options, limits=Limits(timeout=5), files={"a": "b"}, jobs="kill")
    result: ExecutionResult = sandbox.execute("echo", timeout=1, state="discard", args=["a"])
    if result.limit == "cancelled":
        print(result.stdout)
    changes: list[Change] = sandbox.diff(sandbox.snapshot())
    stats: Stats = sandbox.stats()
    print(changes, stats.files, options.clone(seed=1).limits.timeout)
    for stream, data in sandbox.stream("echo"):
        print(stream, data.hex())
    Sandbox(**options.as_dict())


async def right_in_a_loop() -> None:
    async with Sandbox() as sandbox, SandboxManager() as manager:
        print(await sandbox.aexecute("echo", cwd="/tmp"), manager.get("a"))
        async with sandbox.astream("echo") as chunks:
            async for stream, data in chunks:
                print(stream, data.hex())


def wrong(sandbox: Sandbox, options: SandboxOptions) -> None:
    Sandbox(limitz=3)  # refused
    Sandbox(fiels={}, limits=Limits())  # refused
    Sandbox(limits=3)  # refused
    Sandbox(SandboxOptions())  # refused
    Sandbox(files={"a": 5})  # refused
    Sandbox(mounts={"/data": "data"})  # refused
    Sandbox(network=True)  # refused
    Sandbox(jobs="stop")  # refused
    SandboxOptions(limitz=Limits())  # refused
    SandboxOptions(Limits())  # refused
    options.clone(limitz=Limits())  # refused
    print(options.limitz)  # refused
    SandboxManager().create(options)  # refused
    sandbox.execute("echo", tmeout=1)  # refused
    sandbox.execute("echo", isolated=True)  # refused
    sandbox.execute("echo", state="fresh")  # refused
    sandbox.execute("echo", args=5)  # refused
    sandbox.execute(b"echo")  # refused
    sandbox.stream("echo", tmeout=1)  # refused
    sandbox.stream("echo", on_output=print)  # refused
    sandbox.stats()["files"]  # refused
    sandbox.restore("before")  # refused
    Limits(memory=5)  # refused
    NetworkPolicy(allow_private=5)  # refused


async def wrong_in_a_loop(sandbox: Sandbox) -> None:
    await sandbox.aexecute("echo", tmeout=1)  # refused
    await sandbox.execute("echo")  # refused
    sandbox.astream("echo", tmeout=1)  # refused
