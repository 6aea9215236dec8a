"""`threading` in one thread: threads take turns where they wait.

`Thread.start` runs the work at once, with `current_thread()` as in a thread of its own, until it
waits or ends (see `suspending`). Then the thread that started it goes on, and the other one when
somebody waits: in `join`, on a lock, an event or a queue, in `time.sleep`, for a child, and at the
end of the script. A function that cannot be suspended (without source) runs to its end in `start`,
or, if it calls `get` or `wait`, when another thread waits.

When nobody can go on, the innermost thread is given up (its stack is unwound) if the one that
waits below can go on by that; `join` of such a thread, and a wait that nothing can end, raise
RuntimeError and say so.
"""

import _thread
import sys
import threading
import time
from types import FunctionType

from _agentsandbox import errors

DEADLOCK = (
    "this wait would never end: threads take turns in this sandbox's Python, and no other thread "
    "can go on"
)
BELOW = (
    "this wait would never end: the other side of the connection is a thread of this program "
    "that waits, too; threads take turns in this sandbox's Python: run the server as a program of "
    "its own"
)
GIVEN_UP = (
    "thread {!r} was still waiting when no other thread could go on; threads take turns in this "
    "sandbox's Python"
)
WAITING_NAMES = frozenset(["get", "wait"])
NETWORK_NAMES = frozenset("urlopen urlretrieve getresponse requests httpx ServerProxy".split())
"""Who uses one of them begins when another thread waits, because that may be the server."""
MOST_CALLED = 50  # functions that are looked at for them
SLICE = 0.005  # seconds that a thread may run before others get their turn
LONGEST_PAUSE = 0.02  # seconds between two looks at what happens outside
CPYTHON_SLEEP = time.sleep


class GivenUpError(BaseException):
    """Unwinds a thread that waits for what no other thread can do any more."""


def get_ident():
    """Return the number of the thread whose turn it is."""
    return Turns.running[-1]._number if Turns.running else _thread.get_ident()


def never():
    """Return False."""
    return False


class Turns:
    """Whose turn it is: threads that wait, threads that did not begin, the stack of the others."""

    suspended = []
    postponed = []
    running = []
    defers = False  # whether `start` leaves all steps to the waits of others

    @classmethod
    def begin_next(cls):
        """Run one thread that did not begin; return whether there was one."""
        if not cls.postponed:
            return False
        cls.postponed.pop(0)._work()
        return True

    @classmethod
    def others(cls):
        """Whether there are other threads than the main one."""
        return bool(cls.postponed or cls.suspended or cls.running)

    @classmethod
    def do(cls, steps):
        """Do a call in steps for the thread whose turn it is, and return its result.

        A thread on top of this one, which waits in the middle of a function, can do the steps, too.
        """
        call = Call(steps)
        cls.suspended.append(call)
        try:
            cls.wait(lambda: call.done)
        finally:
            if not call.done:
                cls.suspended.remove(call)
                steps.close()
        if call.error is not None:
            raise call.error
        return call.value

    @classmethod
    def wait(cls, ready, timeout=None, outside=False, watch=()):
        """Let threads go on until `ready()`; return False if `timeout` seconds pass before.

        `outside` says that a child may make it ready, `watch` which descriptors, as pairs of a
        number and an event of `select.poll`.
        """
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        pause = 0.001
        while not ready():
            if end is not None and time.monotonic() >= end:
                return False
            if sum([thread._go_on() for thread in list(cls.suspended)]):
                pause = 0.001
            elif not cls.begin_next():
                cls._pause(end, outside, pause, watch)
                pause = min(2 * pause, LONGEST_PAUSE)
        return True

    @classmethod
    def _pause(cls, end, outside, pause, watch):
        """Sleep until a thread may go on; raise if none ever will."""
        waits = [t._wait for t in cls.suspended if t not in cls.running and t._wait is not None]
        times = [wait.end for wait in waits if wait.end is not None]
        if end is not None:
            times.append(end)
        now = time.monotonic()
        if outside or any(wait.outside for wait in waits):
            times.append(now + pause)
        watched = [*watch, *(pair for wait in waits for pair in wait.watch)]
        if watched and not times and all(is_inside(number) for number, _ in watched):
            raise RuntimeError(BELOW)
        if watched:
            watch_until(min(times) - now if times else None, watched)
        elif times:
            CPYTHON_SLEEP(max(0.0, min(times) - now))
        elif cls.running and cls.running[-1]._late:
            raise GivenUpError
        else:
            raise RuntimeError(DEADLOCK)


def is_inside(number):
    """Whether a descriptor is a connection whose other side is in this program, too."""
    sockets = sys.modules.get("_agentsandbox.patches.socket")
    return sockets is not None and sockets.Names.is_inside(number)


def watch_until(seconds, watched):
    """Wait until a descriptor is ready, for `seconds` or any time."""
    from select import _sandbox_poll

    poll = _sandbox_poll()
    ways = {}
    for number, way in watched:
        ways[number] = ways.get(number, 0) | way
    for number, way in ways.items():
        poll.register(number, way)
    try:
        poll.poll(None if seconds is None else max(0.0, seconds * 1000))
    except OSError:  # a descriptor was closed; who waits for it finds out
        pass


def advance(thread):
    """Run a thread's steps until they wait or its slice is over; return True, or None at the end.

    The end gives what the work returned to the thread's `_result`.
    """
    from _agentsandbox.waiting import wait_for

    steps, wait, until = thread._steps, thread._wait, time.monotonic() + SLICE
    try:
        while True:
            try:
                value = None if wait is None else wait.result()
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(value)
            wait = thread._wait = None if request is None else wait_for(*request)
            if time.monotonic() >= until or (wait is not None and not wait.is_over()):
                return True
    except StopIteration as end:
        thread._result(end.value)
        return None


class Call:
    """A call in steps that belongs to the thread whose turn it is when it is made."""

    daemon, _late = True, False

    def __init__(self, steps):
        self._steps, self._wait, self._number = steps, None, get_ident()
        self.done, self.value, self.error = False, None, None

    def _go_on(self):
        """Do steps until they wait; return whether anything was done."""
        if self.done or self in Turns.running:
            return False
        if self._wait is not None and not self._wait.is_over():
            return False
        Turns.running.append(self)
        try:
            self.done = advance(self) is None
        except BaseException as error:
            self.done, self.error = True, error
        finally:
            Turns.running.pop()
            if self.done:
                Turns.suspended.remove(self)
        return True

    def _result(self, value):
        self.value = value


def sleep(seconds, /):
    """Delay execution for a number of seconds; other threads go on."""
    if not Turns.suspended or seconds < 0:
        return CPYTHON_SLEEP(seconds)
    Turns.wait(never, seconds)
    return None


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
        return Turns.wait(lambda: self._lock.acquire(False), timeout)

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


def names_of(work):
    """Return the names that the code of a function uses."""
    code = getattr(getattr(work, "__func__", work), "__code__", None)
    return () if code is None else code.co_names


def asks_servers(work):
    """Whether a function, or a function of its module that it calls, uses `NETWORK_NAMES`."""
    pending = [getattr(work, "__func__", work)]
    seen = []
    while pending and len(seen) < MOST_CALLED:
        function = pending.pop()
        names = names_of(function)
        if not NETWORK_NAMES.isdisjoint(names):
            return True
        seen.append(function)
        found = [getattr(function, "__globals__", {}).get(name) for name in names]
        pending += [f for f in found if isinstance(f, FunctionType) and f not in seen]
    return False


def steps_of(work, calls_only=False):
    """Return the function that makes the steps of a thread's work, or None for one piece."""
    from _agentsandbox.suspending import flattened, generator_of, written_steps

    made = written_steps(work)
    if made is None:
        code = getattr(getattr(work, "__func__", work), "__code__", None)
        if code is None or code.co_filename.startswith(("/usr/local/lib/", errors.OWN_CODE)):
            return None
        made = generator_of(work, calls_only)
    return made and (lambda *args, **more: flattened(made(*args, **more)))


CPYTHON_RUN = threading.Thread.run


class Thread(threading.Thread):
    """A thread whose work is done while others wait."""

    def __init__(self, *args, **more):
        self._began = self._done = self._late = self._given_up = False
        self._number = self._steps = self._wait = None
        super().__init__(*args, **more)

    def start(self):
        """Do the thread's work until it waits, or later if it cannot be suspended and waits."""
        self._begin()
        own = type(self).run is CPYTHON_RUN
        work = self._target if own else self.run
        made = steps_of(work)
        if made is not None:
            self._late = True
            self._steps = made(*self._args, **self._kwargs) if own else made()
            Turns.suspended.append(self)
            if not Turns.defers and not asks_servers(work):
                self._go_on()
            return
        self._late = not WAITING_NAMES.isdisjoint(names_of(work)) or asks_servers(work)
        if self._late:
            Turns.postponed.append(self)
        else:
            self._work()

    def _begin(self):
        """Count the thread as started."""
        if not self._initialized:
            raise RuntimeError("thread.__init__() not called")
        if self._began:
            raise RuntimeError("threads can only be started once")
        self._began = True
        threading._sandbox_started += 1
        self._number = _thread.get_ident() + threading._sandbox_started

    def _work(self):
        """Do the whole work as this thread."""
        self._as_this_thread(self.run)
        self._end()

    def _as_this_thread(self, work):
        """Call `work` as this thread; return its result, or None if it ended by an exception."""
        threading._active[self._number] = self
        Turns.running.append(self)
        self._started.set()
        try:
            if threading._profile_hook:
                threading._sys.setprofile(threading._profile_hook)
            return work()
        except GivenUpError:
            self._given_up = True
        except BaseException as error:
            errors.strip_all(error)
            self._invoke_excepthook(self)
        finally:
            Turns.running.pop()
        return None

    def _end(self):
        self._done = True
        self._steps = self._wait = None
        threading._active.pop(self._number, None)
        if self in Turns.suspended:
            Turns.suspended.remove(self)

    def _go_on(self):
        """Do the work until it waits; return whether anything was done."""
        if self in Turns.running or self._steps is None:
            return False
        if self._wait is not None and not self._wait.is_over():
            return False
        if not self._as_this_thread(self._turn):
            self._end()
        return True

    def _turn(self):
        """Do steps until they wait; return True, or None at the end of the work."""
        return advance(self)

    def _result(self, value):
        """Take what the work returned."""

    def join(self, timeout=None):
        """Wait until the work is done; other threads go on."""
        if not self._initialized:
            raise RuntimeError("Thread.__init__() not called")
        if not self._began:
            raise RuntimeError("cannot join thread before it is started")
        if self in Turns.running and self is Turns.running[-1]:
            raise RuntimeError("cannot join current thread")
        Turns.wait(lambda: self._done, timeout)
        if self._given_up and timeout is None and not self.daemon:
            raise RuntimeError(GIVEN_UP.format(self.name))

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
        for _ in self._steps_of_run():
            self.finished.wait(self.interval)

    def _steps_of_run(self):
        yield (self.finished.wait, (self.interval,), {})
        if not self.finished.is_set():
            self.function(*self.args, **self.kwargs)
        self.finished.set()

    run._sandbox_steps = _steps_of_run


class Arrival:
    """One round of a barrier."""

    def __init__(self):
        self.count = 0
        self.full = False


def arrive(barrier):
    """Come to a barrier; return (the round, the index of the one who came)."""
    arrival = vars(barrier).setdefault("_sandbox_arrival", Arrival())
    index, arrival.count = arrival.count, arrival.count + 1
    if arrival.count == barrier.parties:
        barrier._sandbox_arrival = Arrival()
        if barrier._action:
            barrier._action()
        arrival.full = True
    return arrival, index


def pass_barrier(barrier, timeout=None):
    """Wait until as many threads as the barrier has parties are here; return one's index."""
    arrival, index = arrive(barrier)
    over = Turns.wait(lambda: arrival.full or barrier.broken, timeout or barrier._timeout)
    return passed(barrier, arrival, index, over)


def passed(barrier, arrival, index, over):
    """Return the index of a thread whose wait at a barrier is over, or break the barrier."""
    if not over:
        barrier.abort()
    if not arrival.full:
        raise threading.BrokenBarrierError
    return index


def apply(module):
    """Replace locks, threads and timers of the module."""
    from _threading_local import local

    module._sandbox_started, module._sandbox_turns, module.local = 0, Turns, local
    module.get_ident, module._CRLock = get_ident, None
    pass_barrier.__name__ = "wait"
    module.Barrier.wait = pass_barrier
    time.sleep = sleep
    module.Lock = module._allocate_lock = Lock
    module._start_new_thread = refuse_raw
    Thread.__module__ = Timer.__module__ = "threading"
    module.Thread, module.Timer = Thread, Timer
    original_shutdown = module._shutdown

    def shutdown():
        """Let the threads go on that are no daemons, to their end."""
        Turns.postponed[:] = [thread for thread in Turns.postponed if not thread.daemon]
        Turns.wait(lambda: not any(not thread.daemon for thread in Turns.suspended))
        while Turns.begin_next():
            pass
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
