"""A selector's `select` in steps: other threads go on while one waits for it."""

from _agentsandbox.patches.select import pairs, steps


def apply(module):
    """Give the selectors steps."""

    def select_steps(self, timeout=None):
        keys = list(self.get_map().values())
        reads = [key.fd for key in keys if key.events & module.EVENT_READ]
        writes = [key.fd for key in keys if key.events & module.EVENT_WRITE]
        seconds = None if timeout is None else max(0.0, timeout)
        select = type(self).select
        return (yield from steps(lambda: select(self, 0), seconds, pairs(reads, writes)))

    for name in ("SelectSelector", "_PollLikeSelector"):
        getattr(module, name).select._sandbox_steps = select_steps
