"""Deep recursion on several stacks: the host's recursion limit stays as it is.

CPython counts the frames of a stack and refuses those beyond `sys.getrecursionlimit()`, 1,000 by
default. A script may nest functions a thousand deep, and a level takes up to thirty frames. To
raise the limit would hold for the whole program, as would to restore it afterwards while another
thread still needs it. But each greenlet has a stack and a count of its own, so a script that has
nested a few levels goes on in another greenlet.

A new greenlet begins with the count of the one that starts it, and with its position on the C
stack. So none is started from deep down: the first one that is needed is the *starter*, which does
nothing but start the others. It is itself started from a low level and stays there, whoever asks
it:

    caller ──(stack, task)──▶ starter ──▶ stack: runs the task ──(outcome)──▶ caller

A stack that has ended its task waits for the next one, with its count still low: then it is
switched to directly. The C stack of whoever waits is moved aside meanwhile, so that a deep script
takes no more of it than a few levels do.

Stacks belong to a thread, and all that wait for a task end with the execution (`close`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from greenlet import greenlet

    T = TypeVar("T")

    Task = tuple[greenlet, Callable[[], Any]]


# TM-MEM-4
class Stacks:
    """The additional stacks of one scheduler, in the thread that executes."""

    __slots__ = ("_idle", "_starter")

    def __init__(self) -> None:
        self._starter: greenlet | None = None
        self._idle: list[greenlet] = []

    def take(self) -> greenlet:
        """Return a stack to `run` a task on."""
        if self._idle:
            return self._idle.pop()
        from contextvars import copy_context

        from greenlet import greenlet

        stack = greenlet(_run_tasks)
        # what the host's own commands look at is the same on all stacks
        stack.gr_context = copy_context()
        return stack

    def run(self, stack: greenlet, function: Callable[[], T]) -> T:
        """Return what `function()` returns on that stack, or raise what it raises."""
        from greenlet import getcurrent

        task = (getcurrent(), function)
        outcome = stack.switch(task) if stack else self.start(stack, task)
        self._idle.append(stack)
        result, error = outcome
        outcome.clear()  # the stack that waits has it as well
        if error is not None:
            try:
                raise error
            finally:
                del error  # a frame that knows its own error is never freed at once
        value: T = result
        return value

    def start(self, new: greenlet, value: object) -> Any:
        """Switch to a greenlet for the first time; return the value it switches back with.

        The starter starts it, so it begins with the starter's count of frames.
        """
        return self.starter().switch((new, value))

    def starter(self) -> greenlet:
        """Return the greenlet that switches to `new` with `value` when it gets (new, value).

        A greenlet that ends has it as its parent and returns such a pair. It must not be followed
        directly: that one would begin where it ends, further down the C stack each time, and each
        that ended would keep its successor.
        """
        starter = self._starter
        if starter is None:
            from greenlet import getcurrent, greenlet

            root = getcurrent()
            while root.parent is not None:
                root = root.parent
            starter = self._starter = greenlet(_start_others, root)
        return starter

    def close(self) -> None:
        """End the stacks that wait for a task."""
        waiting = self._idle if self._starter is None else [*self._idle, self._starter]
        if not waiting:
            return
        from greenlet import getcurrent

        here = getcurrent()
        for stack in waiting:
            stack.parent = here
            stack.switch(None)
        self._idle = []
        self._starter = None


def _start_others(request: tuple[greenlet, object] | None) -> None:
    while request is not None:
        new, value = request
        request = new.switch(value)


def _run_tasks(task: Task | None) -> None:
    while task is not None:
        caller, function = task
        outcome: list[object] = [None, None]
        try:
            outcome[0] = function()
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            outcome[1] = error
        if caller.dead:  # nobody waits any more: the host has dropped the script
            return
        back = caller.switch
        del task, function, caller
        task = back(outcome)
