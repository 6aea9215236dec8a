"""`multiprocessing` in one process: a process is a thread that takes turns (see `threading`).

Arguments and results are pickled, and what the function changed in the globals of its module is
set back afterwards, so a script sees what it would see of a process of its own. Shared memory by
name and listeners are refused.
"""

import pickle
import queue
import sys
import threading
import traceback
from multiprocessing import process as state
from multiprocessing.process import BaseProcess

import _agentsandbox
from _agentsandbox import errors
from _agentsandbox.patches import threading as turns

REFUSAL = (
    "multiprocessing.{} is not available in this sandbox's Python: there is one process; "
    "use a loop, or concurrent.futures.ThreadPoolExecutor"
)
CONTAINERS = (list, dict, set)


class UnavailableError(NotImplementedError, ImportError):
    """What is refused; an ImportError too, as CPython raises where semaphores are missing."""


def through(value):
    """Return a copy of a value, made as for another process."""
    return pickle.loads(pickle.dumps(value))


def copied(value):
    """Return a copy of plain data; other objects are shared."""
    return through(value) if type(value) in CONTAINERS else value


class Memory:
    """The globals of a function's module, as another process sees and leaves them."""

    def __init__(self, function):
        function = getattr(function, "__func__", function)
        self.names = getattr(function, "__globals__", {})
        self.changed = {}
        self.contents = {}

    def __enter__(self):
        names = self.names
        self.before = dict(names)
        self.inside = {n: v.copy() for n, v in names.items() if type(v) in CONTAINERS}
        names.update(self.changed)
        for name, content in self.contents.items():
            set_back(self.before[name], content)

    def __exit__(self, *exc):
        names, before = self.names, self.before
        self.changed = {n: v for n, v in names.items() if n not in before or before[n] is not v}
        self.contents = {
            name: before[name].copy()
            for name, content in self.inside.items()
            if before[name] != content
        }
        for name in names.keys() - before.keys():
            del names[name]
        names.update(before)
        for name in self.contents:
            set_back(before[name], self.inside[name])


def set_back(value, content):
    """Give a list, dictionary or set its content of before."""
    value.clear()
    (value.extend if type(value) is list else value.update)(content)


class Running(threading.Thread):
    """What runs in place of a process; `multiprocessing` knows it as `_popen`."""

    sentinel = None

    def __init__(self, process):
        super().__init__(daemon=process.daemon)
        Running.count += 1
        self.process = process
        self.pid = _agentsandbox.process.pid + Running.count
        self.status = None
        own = type(process).run is BaseProcess.run
        self.work = process._target if own else process.run
        self.arguments = ([], {})
        if own:
            values = process._kwargs.items()
            self.arguments = [copied(a) for a in process._args], {k: copied(v) for k, v in values}
        self.memory = Memory(self.work)
        self.start()

    def start(self):
        """Do the work until it waits."""
        self._begin()
        self._late = True
        steps = None if self.work is None else turns.steps_of(self.work)
        args, more = self.arguments
        self._steps = self._piece() if steps is None else steps(*args, **more)
        turns.Turns.suspended.append(self)
        self._go_on()

    def _piece(self):
        """Do all the work in one step."""
        args, more = self.arguments
        if self.work is not None:
            self.work(*args, **more)
        return
        yield

    def _turn(self):
        before, state._current_process = state._current_process, self.process
        try:
            with self.memory:
                return super()._turn()
        except SystemExit as leaving:
            code = leaving.code
            self.status = 0 if code is None else code if isinstance(code, int) else 1
            if code is not None and not isinstance(code, int):
                sys.stderr.write(f"{code}\n")
        except Exception as error:
            errors.strip_all(error)
            self.status = 1
            sys.stderr.write(f"Process {self.process.name}:\n")
            traceback.print_exception(error)
        finally:
            state._current_process = before
        return None

    def _end(self):
        super()._end()
        if self.status is None:
            self.status = 0

    def poll(self):
        """Return the status, or None while the work is not done."""
        return self.status

    def wait(self, timeout=None):
        """Wait for the end; return the status, or None after `timeout` seconds."""
        turns.Turns.wait(lambda: self.status is not None, timeout)
        return self.status

    def end_by(self, signal):
        """End the work as a signal ends a process."""
        if self.status is None:
            self.status = -signal
            self._end()

    def terminate(self):
        """End the work as SIGTERM does."""
        self.end_by(15)

    def kill(self):
        """End the work as SIGKILL does."""
        self.end_by(9)

    def close(self):
        """Free nothing."""


Running.count = 0


# --- processes -------------------------------------------------------------------------------


class Queue(queue.Queue):
    """A queue whose items are copies."""

    def __init__(self, maxsize=0, *, ctx=None):
        super().__init__(maxsize)

    def put(self, item, block=True, timeout=None):
        """Put a copy of an item into the queue."""
        super().put(through(item), block, timeout)

    def close(self):
        """Put nothing more into the queue."""

    join_thread = cancel_join_thread = close


class Connection:
    """One end of a pipe of objects."""

    def __init__(self, source, target):
        self._source = source
        self._target = target
        self.closed = False

    def send(self, obj):
        """Send an object."""
        self._target.put(through(obj))

    send_bytes = send

    def recv(self):
        """Return the next object that was sent."""
        found = self._source.get()
        if found is EOFError:
            raise EOFError
        return found

    recv_bytes = recv

    def poll(self, timeout=0.0):
        """Whether there is an object to receive."""
        threading._sandbox_turns.wait(self._source.qsize, timeout)
        return bool(self._source.qsize())

    def close(self):
        """Close this end."""
        if not self.closed:
            self.closed = True
            self._target.put(EOFError)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def pipe(duplex=True):
    """Return the two ends of a pipe of objects."""
    one, other = queue.Queue(), queue.Queue()
    return Connection(one, other), Connection(other, one)


class Value:
    """A value that processes share, with a lock."""

    def __init__(self, typecode, value=0, *, lock=True):
        self.value = value
        self._lock = lock if hasattr(lock, "acquire") else threading.RLock()

    def get_lock(self):
        """Return the lock."""
        return self._lock

    get_obj = property(lambda self: lambda: self)

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *exc):
        self._lock.release()


class Array(list):
    """An array that processes share, with a lock."""

    def __init__(self, typecode, content, *, lock=True):
        filler = b"\0" if typecode == "c" else 0
        super().__init__([filler] * content if isinstance(content, int) else content)
        self._lock = threading.RLock()

    def get_lock(self):
        """Return the lock."""
        return self._lock

    def get_obj(self):
        """Return the array."""
        return self


class Manager:
    """What makes objects that processes share: here, plain ones."""

    Queue, JoinableQueue, Value, Array = Queue, Queue, Value, Array
    Lock, RLock, Event = threading.Lock, threading.RLock, threading.Event
    Condition, Semaphore, Barrier = threading.Condition, threading.Semaphore, threading.Barrier
    dict, list = type("DictProxy", (dict,), {}), type("ListProxy", (list,), {})

    def Namespace(self, **names):
        """Return an object with attributes."""
        from types import SimpleNamespace

        return SimpleNamespace(**names)

    def start(self, *args):
        """Do nothing: there is no server."""

    shutdown = start

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        """Do nothing: there is no server."""


# --- pools -----------------------------------------------------------------------------------


class Pool:
    """A pool of processes: each call is done when it is asked for, in order."""

    def __init__(self, processes=None, initializer=None, initargs=(), *more, **context):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._memories = {}
        self._open = True
        if initializer is not None:
            self._call(initializer, initargs, {})

    def _call(self, function, args, more):
        """Return what the function returns in another process."""
        if not self._open:
            raise ValueError("Pool not running")
        function, args, more = through((function, tuple(args), more))
        memory = Memory(function)
        with self._memories.setdefault(id(memory.names), memory):
            found = function(*args, **more)
        return through(found)

    def apply(self, func, args=(), kwds={}):  # noqa: B006 - as CPython has it
        """Return the result of a call."""
        return self._call(func, args, kwds)

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):  # noqa: B006
        """Return the `Result` of a call."""
        return Result(lambda: self._call(func, args, kwds), callback, error_callback)

    def map(self, func, iterable, chunksize=None):
        """Return the results for all items."""
        return list(self.imap(func, iterable))

    def starmap(self, func, iterable, chunksize=None):
        """Return the results for all tuples of arguments."""
        return [self._call(func, args, {}) for args in list(iterable)]

    def imap(self, func, iterable, chunksize=1):
        """Yield the results for all items."""
        if not self._open:
            raise ValueError("Pool not running")
        return (self._call(func, (item,), {}) for item in list(iterable))

    imap_unordered = imap

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        """Return the `Result` of `map`."""
        return Result(lambda: self.map(func, iterable), callback, error_callback)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        """Return the `Result` of `starmap`."""
        return Result(lambda: self.starmap(func, iterable), callback, error_callback)

    def close(self):
        """Take no more calls."""
        self._open = False

    terminate = close

    def join(self):
        """Check that the pool was closed: all calls are done."""
        if self._open:
            raise ValueError("Pool is still running")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class Result:
    """The result of a call that is done."""

    def __init__(self, call, callback, error_callback):
        try:
            self._value, self._error = call(), None
        except Exception as error:
            self._error = error
            if error_callback:
                error_callback(error)
        else:
            if callback:
                callback(self._value)

    def get(self, timeout=None):
        """Return the result or raise the exception."""
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout=None):
        """Return at once."""

    def ready(self):
        """Return True."""
        return True

    def successful(self):
        """Whether the call raised no exception."""
        return self._error is None


SHARED = {
    "Pool": Pool, "Queue": Queue, "JoinableQueue": Queue, "SimpleQueue": Queue, "Pipe": pipe,
    "Value": Value, "Array": Array, "Manager": Manager, "Lock": threading.Lock,
    "RLock": threading.RLock, "Condition": threading.Condition, "Event": threading.Event,
    "Semaphore": threading.Semaphore, "BoundedSemaphore": threading.BoundedSemaphore,
    "Barrier": threading.Barrier, "cpu_count": lambda: 1,
}  # fmt: skip


def apply(module):
    """Put threads in place of processes, and refuse the rest."""
    from multiprocessing import context

    for kind in vars(context).values():
        if isinstance(kind, type) and issubclass(kind, BaseProcess):
            kind._Popen = staticmethod(Running)

    def method_of(made):
        return lambda self, *args, **more: made(*args, **more)

    for name, made in SHARED.items():
        setattr(module, name, made)
        setattr(context.BaseContext, name, method_of(made))

    def refused(name):
        def refuse(*args, **more):
            raise UnavailableError(REFUSAL.format(name))

        refuse.__name__ = name
        return refuse

    for name in ("RawValue", "RawArray"):
        refuse = refused(name)
        setattr(context.BaseContext, name, refuse)
        setattr(module, name, refuse)
