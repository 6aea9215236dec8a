"""`threading` in one thread: a thread's work is done while the thread that started it waits.

`Thread.start` runs the work at once and returns when it is done, with `current_thread()` as in a
thread of its own. A thread whose code calls `get` or `wait` (a worker that takes from a queue)
begins later, when another one would block: in `join`, on a lock, an event or a queue, or at the
end of the script. Both are orders that real threads could have run in.

When everything blocks, the innermost thread is given up (its stack is unwound) if the one that
waits below can go on by that; `join` of such a thread, and a wait that nothing can end, raise
RuntimeError and say so.
"""

import _thread
import threading
import time

from _agentsandbox import errors

DEADLOCK = (
    "this wait would never end: threads run one after the other in this sandbox's Python, and no "
    "other thread can go on"
)
GIVEN_UP = (
    "thread {!r} was still waiting when no other thread could go on; threads run one after the "
    "other in this sandbox's Python"
)
WAITING_NAMES = frozenset(["get", "wait"])


class GivenUpError(BaseException):
    """Unwinds a thread that waits for what no other thread can do any more."""


class Turns:
    """Whose turn it is: threads that did not begin, and the stack of those that run."""

    postponed = []
    running = []

    @classmethod
    def next(cls):
        """Run one thread that did not begin; return whether there was one."""
        if not cls.postponed:
            return False
        cls.postponed.pop(0)._work()
        return True

    @classmethod
    def block(cls):
        """Let another thread go on; raise if there is none."""
        if cls.next():
            return
        if cls.running and cls.running[-1]._late:
            raise GivenUpError
        raise RuntimeError(DEADLOCK)


class Lock:
    """A lock; to wait for it lets other threads go on."""

    __slots__ = ("_lock", "__weakref__")  # noqa: RUF023

    def __init__(self):
        self._lock = _thread.allocate_lock()

    def acquire(self, blocking=True, timeout=-1):
        """Take the lock, waiting for it unless `blocking` is False."""
        if self._lock.acquire(False):
            return True
        if not blocking:
            if timeout != -1:
                raise ValueError("can't specify a timeout for a non-blocking call")
            return False
        while timeout < 0 or Turns.postponed:
            if timeout < 0:
                Turns.block()
            else:
                Turns.next()
            if self._lock.acquire(False):
                return True
        time.sleep(timeout)
        return self._lock.acquire(False)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exc):
        self._lock.release()

    def release(self):
        """Give the lock back."""
        self._lock.release()

    acquire_lock, release_lock = acquire, release

    def _at_fork_reinit(self):
        self._lock = _thread.allocate_lock()

    def locked(self):
        """Whether the lock is taken."""
        return self._lock.locked()

    def __repr__(self):
        state = "locked" if self._lock.locked() else "unlocked"
        return f"<{state} _thread.lock object at {id(self):#x}>"


def waits(work):
    """Whether the code of a function names a method that waits."""
    code = getattr(getattr(work, "__func__", work), "__code__", None)
    return code is not None and not WAITING_NAMES.isdisjoint(code.co_names)


CPYTHON_RUN = threading.Thread.run


class Thread(threading.Thread):
    """A thread whose work is done while others wait."""

    def __init__(self, *args, **more):
        self._began = self._done = self._late = self._given_up = False
        self._number = None
        super().__init__(*args, **more)

    def start(self):
        """Do the thread's work now, or later if it would wait for others first."""
        if not self._initialized:
            raise RuntimeError("thread.__init__() not called")
        if self._began:
            raise RuntimeError("threads can only be started once")
        self._began = True
        threading._sandbox_started += 1
        self._number = threading.get_ident() + threading._sandbox_started
        work = self._target if type(self).run is CPYTHON_RUN else self.run
        self._late = waits(work)
        if self._late:
            Turns.postponed.append(self)
        else:
            self._work()

    def _work(self):
        """Do the work as this thread."""
        ident = threading.get_ident()
        before = threading._active.get(ident)
        threading._active[ident] = self
        Turns.running.append(self)
        self._started.set()
        try:
            try:
                if threading._profile_hook:
                    threading._sys.setprofile(threading._profile_hook)
                self.run()
            except GivenUpError:
                self._given_up = True
            except BaseException as error:
                errors.strip_all(error)
                self._invoke_excepthook(self)
        finally:
            Turns.running.pop()
            self._done = True
            if before is not None:
                threading._active[ident] = before
            else:
                threading._active.pop(ident, None)

    def join(self, timeout=None):
        """Wait until the work is done; other threads that did not begin run first."""
        if not self._initialized:
            raise RuntimeError("Thread.__init__() not called")
        if not self._began:
            raise RuntimeError("cannot join thread before it is started")
        if self in Turns.running:
            raise RuntimeError("cannot join current thread")
        while not self._done and Turns.next():
            pass
        if self._given_up and timeout is None and not self.daemon:
            raise RuntimeError(GIVEN_UP.format(self.name))
        if not self._done:
            Turns.block()

    def is_alive(self):
        """Whether the thread was started and its work is not done."""
        return self._began and not self._done

    @property
    def ident(self):
        """A number of the thread's own, or None before `start`."""
        return self._number

    @property
    def native_id(self):
        """The same as `ident`."""
        return self._number

    def __repr__(self):
        state = "initial"
        if self._began:
            state = "stopped" if self._done else "started"
        daemon = " daemon" if self.daemon else ""
        number = f" {self._number}" if self._number is not None else ""
        return f"<{type(self).__name__}({self.name}, {state}{daemon}{number})>"


class Timer(Thread):
    """Call a function after some seconds, unless it is cancelled."""

    def __init__(self, interval, function, args=None, kwargs=None):
        super().__init__()
        self.interval = interval
        self.function = function
        self.args = args if args is not None else []
        self.kwargs = kwargs if kwargs is not None else {}
        self.finished = threading.Event()

    def cancel(self):
        """Call nothing if the time has not come."""
        self.finished.set()

    def run(self):
        """Wait for the time, then call the function."""
        self.finished.wait(self.interval)
        if not self.finished.is_set():
            self.function(*self.args, **self.kwargs)
        self.finished.set()


def apply(module):
    """Replace locks, threads and timers of the module."""
    module._sandbox_started = 0
    module.Lock = module._allocate_lock = Lock
    module._start_new_thread = refuse_raw
    Thread.__module__ = Timer.__module__ = "threading"
    module.Thread, module.Timer = Thread, Timer
    original_shutdown = module._shutdown

    def shutdown():
        """Run the threads that did not begin and are no daemons."""
        while Turns.postponed:
            if Turns.postponed[0].daemon:
                Turns.postponed.pop(0)
            else:
                Turns.next()
        original_shutdown()

    module._shutdown = shutdown
    main = module.main_thread()
    main.join = lambda timeout=None: cannot_join()


def refuse_raw(*args, **more):
    """Refuse what `threading` does not do in turns."""
    raise RuntimeError("can't start new thread: this sandbox's Python has one thread")


def cannot_join():
    """Raise what CPython raises for the main thread's own join."""
    raise RuntimeError("cannot join current thread")
