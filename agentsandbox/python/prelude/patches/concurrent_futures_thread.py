"""`ThreadPoolExecutor` over threads that take turns (see `patches/threading.py`).

A call that never waits is done in `submit`. One that may wait is a thread of its own; of those,
`max_workers` are under way at once.
"""

import threading

from _agentsandbox.patches import threading as turns


class Task(threading.Thread):
    """One call of an executor."""

    def __init__(self, pool, name, future, steps):
        super().__init__(name=name)
        self._pool = pool
        self._future = future
        self._own_steps = steps

    def start(self):
        """Begin the call."""
        self._begin()
        self._late = True
        self._steps = self._own_steps
        turns.Turns.suspended.append(self)
        self._go_on()

    def _turn(self):
        try:
            return super()._turn()
        except BaseException as error:
            self._future.set_exception(error)
            return None

    def _result(self, value):
        self._future.set_result(value)

    def _end(self):
        super()._end()
        self._pool._sandbox_active.remove(self)
        begin_pending(self._pool)


def begin_pending(pool):
    """Begin calls that were submitted, as many as there are workers."""
    while pool._sandbox_pending and len(pool._sandbox_active) < pool._max_workers:
        future, fn, steps, args, kwargs = pool._sandbox_pending.pop(0)
        if future.set_running_or_notify_cancel():
            run(pool, future, fn, steps, args, kwargs)


def run(pool, future, fn, steps, args, kwargs):
    """Do a call: at once, or as a thread that may wait."""
    busy = {task._worker for task in pool._sandbox_active}
    number = next(n for n in range(len(busy) + 1) if n not in busy)
    name = f"{pool._thread_name_prefix or pool}_{number}"
    if steps is not None:
        task = Task(pool, name, future, steps(*args, **kwargs))
        task._worker = number
        pool._sandbox_active.append(task)
        task.start()
        return

    def work():
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)

    worker = threading.Thread(name=name)
    worker._begin()
    worker._as_this_thread(work)
    worker._end()


def apply(module):
    """Let `submit` do the work itself, or start it."""
    from concurrent.futures._base import Future

    def submit(self, fn, /, *args, **kwargs):
        """Call `fn` and return the future that will hold its result or exception."""
        with self._shutdown_lock:
            if self._broken:
                raise module.BrokenThreadPool(self._broken)
            if self._shutdown:
                raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        initialize(self)
        steps = turns.steps_of(fn, calls_only=True)
        self._sandbox_pending.append((future, fn, steps, args, kwargs))
        begin_pending(self)
        return future

    def initialize(self):
        """Call the initializer of the workers once."""
        context = getattr(self, "_initializer", None)
        if context is not None:
            self._initializer = None
            context(*self._initargs)

    original = module.ThreadPoolExecutor.__init__

    def init(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), **more):
        original(self, max_workers, thread_name_prefix, None, (), **more)
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._initializer, self._initargs = initializer, initargs
        self._sandbox_pending, self._sandbox_active = [], []

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Take no more calls; wait for those under way."""
        with self._shutdown_lock:
            self._shutdown = True
        if cancel_futures:
            for future, *_ in self._sandbox_pending:
                future.cancel()
            self._sandbox_pending.clear()
        if wait:
            turns.Turns.wait(lambda: not self._sandbox_pending and not self._sandbox_active)

    module.ThreadPoolExecutor.__init__ = init
    module.ThreadPoolExecutor.submit = submit
    module.ThreadPoolExecutor.shutdown = shutdown
