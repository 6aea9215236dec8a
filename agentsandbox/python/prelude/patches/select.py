"""`select.select` and `select.poll` let other threads go on while they wait."""

import sys
import time

POLL_READ, POLL_WRITE = 1, 4


def turns_of_others():
    """Return `Turns` if another thread may go on while this one waits, else None."""
    module = sys.modules.get("_agentsandbox.patches.threading")
    return module.Turns if module is not None and module.Turns.others() else None


def number(file):
    """Return the descriptor of a number or file object."""
    return file if isinstance(file, int) else file.fileno()


def pairs(reads, writes):
    """Return what `Turns.wait` watches for two lists of files."""
    return [(number(f), POLL_READ) for f in reads] + [(number(f), POLL_WRITE) for f in writes]


def wait(look, timeout, watch):
    """Return what `look()` finds within `timeout` seconds."""
    found = look()

    def ready():
        nonlocal found
        found = look()
        return any(found)

    if not any(found):
        end = None if timeout is None else time.monotonic() + timeout
        turns_of_others().wait(ready, timeout, watch=watch)
        if end is not None and time.monotonic() > end:  # what went on on top took longer
            return type(found)([] for _ in found) if isinstance(found, tuple) else []
    return found


def steps(look, timeout, watch):
    """Do `wait` in steps."""
    found = look()

    def ready():
        nonlocal found
        found = look()
        return any(found)

    if not any(found):
        yield ("until", (ready, timeout, watch), {})
    return found


def apply(module):
    """Replace `select` and `poll`."""
    module._sandbox_poll = original_poll = module.poll
    original = module.select

    def select(rlist, wlist, xlist, timeout=None, /):
        """Wait until one of the files is ready and return three lists of those that are."""
        rlist, wlist, xlist = list(rlist), list(wlist), list(xlist)
        if turns_of_others() is None or timeout == 0:
            return original(rlist, wlist, xlist, timeout)
        look = lambda: original(rlist, wlist, xlist, 0)  # noqa: E731
        return wait(look, timeout, pairs(rlist, wlist))

    def select_steps(rlist, wlist, xlist, timeout=None, /):
        rlist, wlist, xlist = list(rlist), list(wlist), list(xlist)
        look = lambda: original(rlist, wlist, xlist, 0)  # noqa: E731
        return (yield from steps(look, timeout, pairs(rlist, wlist)))

    class Poll:
        """An object that waits for files."""

        def __init__(self):
            self._poll = original_poll()
            self._ways = {}

        def register(self, fd, eventmask=7, /):
            """Watch a file."""
            self._poll.register(fd, eventmask)
            self._ways[number(fd)] = eventmask

        def modify(self, fd, eventmask, /):
            """Watch a file for something else."""
            self._poll.modify(fd, eventmask)
            self._ways[number(fd)] = eventmask

        def unregister(self, fd, /):
            """Watch a file no more."""
            self._poll.unregister(fd)
            self._ways.pop(number(fd), None)

        def poll(self, timeout=None, /):
            """Wait up to `timeout` milliseconds; return pairs of a number and its events."""
            if timeout == 0 or turns_of_others() is None:
                return self._poll.poll(timeout)
            seconds = None if timeout is None or timeout < 0 else timeout / 1000
            return wait(lambda: self._poll.poll(0), seconds, list(self._ways.items()))

        def _steps(self, timeout=None, /):
            seconds = None if timeout is None or timeout < 0 else timeout / 1000
            look = lambda: self._poll.poll(0)  # noqa: E731
            return (yield from steps(look, seconds, list(self._ways.items())))

        poll._sandbox_steps = _steps

    select._sandbox_steps = select_steps
    select.__module__ = Poll.__module__ = "select"
    Poll.__qualname__ = Poll.__name__ = "poll"
    module.select = select
    module.poll = Poll
