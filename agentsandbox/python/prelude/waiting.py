"""What a suspended thread waits for: `wait_for` turns its requests into `Wait`s."""

import os
import queue
import stat
import threading
import time
from collections import deque
from select import _sandbox_poll

from _agentsandbox.patches import threading as turns

RLock = threading._PyRLock
POLL_READ = 1
CHUNK = 65536


class Wait:
    """Something that a thread waits for: until `ready()` or a time."""

    __slots__ = ("end", "finish", "late", "outside", "ready", "watch")

    def __init__(self, finish, ready=None, timeout=None, late=None, outside=False, watch=()):
        self.finish = finish
        self.ready = ready
        self.late = late
        self.outside = outside
        self.watch = watch
        self.end = None if timeout is None or timeout < 0 else time.monotonic() + timeout

    def is_over(self):
        """Whether the thread can go on."""
        if self.ready is None or self.ready():
            return True
        if self.end is None or time.monotonic() < self.end:
            return False
        self.finish = self.late or self.finish
        return True

    def result(self):
        """Return the result of the call that waited, or raise its exception."""
        return self.finish()


def wait_for(function, args, more):
    """Return the `Wait` of a request; a call that nothing is known of is just done."""

    def call():
        return function(*args, **more)

    if isinstance(function, str):
        return STATEMENTS[function](*args)
    if function in (time.sleep, turns.sleep, turns.CPYTHON_SLEEP):
        return Wait(nothing, turns.never, *args) if args and args[0] >= 0 else Wait(call)
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    for kind, kinds in KINDS.items():
        if isinstance(owner, kind) and name in kinds:
            return kinds[name](owner, call, *args, **more)
    if name in PIPE_CALLS and is_pipe(owner):
        return PIPE_CALLS[name](Lines.of(owner), call, *args)
    if name in getattr(owner, "_sandbox_ways", ()):
        return of_socket(owner, call, owner._sandbox_ways[name])
    if name == "readline" and (socket := socket_of(owner)) is not None:
        return of_socket_file(owner, socket, call)
    if owner is not None and type(owner).__name__ == "Popen" and name == "wait":
        return of_child(owner, call, *args, **more)
    return Wait(call)


def nothing():
    """Return None."""


# --- locks, events, queues, threads ----------------------------------------------------------


def acquire(owner, call, blocking=True, timeout=-1):
    """Wait for a lock or semaphore."""
    if not blocking:
        return Wait(call)
    return Wait(lambda: True, lambda: owner.acquire(False), timeout, late=lambda: False)


def event_wait(owner, call, timeout=None):
    """Wait for an event."""
    return Wait(owner.is_set, owner.is_set, timeout)


def condition_wait(owner, call, timeout=None):
    """Wait for a notification: give the lock back, and take it again."""
    if not owner._is_owned():
        return Wait(call)
    waiter = threading.Lock()
    waiter.acquire()
    owner._waiters.append(waiter)
    saved = owner._release_save()

    def finish(found=True):
        owner._acquire_restore(saved)
        if not found and waiter in owner._waiters:
            owner._waiters.remove(waiter)
        return found

    def ready():
        return not waiter.locked() and not is_taken(owner._lock)

    return Wait(finish, ready, timeout, late=lambda: finish(False))


def is_taken(lock):
    """Whether a thread that wants the lock must wait."""
    if isinstance(lock, RLock):
        return lock._owner not in (None, threading.get_ident())
    return lock.locked()


def condition_wait_for(owner, call, predicate, timeout=None):
    """Wait until a predicate holds."""
    if not owner._is_owned() or predicate():
        return Wait(call)
    saved = owner._release_save()

    def finish():
        owner._acquire_restore(saved)
        return predicate()

    return Wait(finish, lambda: not is_taken(owner._lock) and predicate(), timeout)


def barrier_wait(owner, call, timeout=None):
    """Wait for the others at a barrier."""
    arrival, index = turns.arrive(owner)

    def ready():
        return arrival.full or owner.broken

    def finish(over=True):
        return turns.passed(owner, arrival, index, over)

    return Wait(finish, ready, timeout or owner._timeout, late=lambda: finish(False))


def queue_get(owner, call, block=True, timeout=None):
    """Wait for an item."""
    if not block:
        return Wait(call)
    return Wait(lambda: owner.get(False), owner.qsize, timeout)


def queue_put(owner, call, item, block=True, timeout=None):
    """Wait for room."""
    if not block or getattr(owner, "maxsize", 0) <= 0:
        return Wait(call)
    return Wait(lambda: owner.put(item, False), lambda: not owner.full(), timeout)


def queue_join(owner, call):
    """Wait until all items are done."""
    return Wait(nothing, lambda: not owner.unfinished_tasks)


def thread_join(owner, call, timeout=None):
    """Wait for a thread's end."""
    return Wait(lambda: owner.join(0), lambda: not owner.is_alive(), timeout)


def of_child(owner, call, timeout=None):
    """Wait for a child's end."""
    late = (lambda: owner.wait(0)) if timeout is not None else None
    return Wait(call, lambda: owner.poll() is not None, timeout, late, outside=True)


KINDS = {
    threading.Lock: {"acquire": acquire},
    RLock: {"acquire": acquire},
    threading.Semaphore: {"acquire": acquire},
    threading.Event: {"wait": event_wait},
    threading.Condition: {"wait": condition_wait, "wait_for": condition_wait_for},
    threading.Barrier: {"wait": barrier_wait},
    threading.Thread: {"join": thread_join},
    queue.Queue: {"get": queue_get, "put": queue_put, "join": queue_join},
    queue.SimpleQueue: {"get": queue_get},
}


# --- pipes -----------------------------------------------------------------------------------


def is_pipe(stream):
    """Whether an object is a file that reads from a pipe."""
    try:
        number = stream.fileno()
        return number > 2 and stat.S_ISFIFO(os.fstat(number).st_mode) and stream.readable()
    except (OSError, ValueError, AttributeError):
        return False


class Lines:
    """The lines of a pipe, read as they come."""

    known = {}

    def __init__(self, stream):
        from io import IncrementalNewlineDecoder, TextIOBase
        from select import poll

        self.number = stream.fileno()
        self.is_text = isinstance(stream, TextIOBase)
        self.found = deque()
        self.rest = "" if self.is_text else b""
        self.ended = False
        self.poll = poll()
        self.poll.register(self.number, POLL_READ)
        self.watch = ((self.number, POLL_READ),)
        if self.is_text:
            from codecs import getincrementaldecoder

            decoder = getincrementaldecoder(stream.encoding)(stream.errors or "strict")
            self.decode = IncrementalNewlineDecoder(decoder, translate=True).decode

    @classmethod
    def of(cls, stream):
        """Return the lines of a stream, the same each time."""
        kept = cls.known.get(id(stream))
        if kept is None or kept[0] is not stream:
            kept = cls.known[id(stream)] = (stream, cls(stream))
        return kept[1]

    def look(self):
        """Take what the pipe has."""
        while not self.ended and self.poll.poll(0):
            data = os.read(self.number, CHUNK)
            self.ended = not data
            text = self.decode(data, self.ended) if self.is_text else data
            *lines, self.rest = (self.rest + text).split("\n" if self.is_text else b"\n")
            self.found.extend(line + ("\n" if self.is_text else b"\n") for line in lines)

    def has_line(self):
        """Whether there is a line, or the end."""
        if not self.found:
            self.look()
        return bool(self.found) or self.ended

    def line(self):
        """Return the next line, "" at the end."""
        if self.found:
            return self.found.popleft()
        line, self.rest = self.rest, self.rest[:0]
        return line

    def has_all(self):
        """Whether the pipe ended."""
        self.look()
        return self.ended

    def all(self):
        """Return the rest."""
        found = self.rest[:0].join((*self.found, self.rest))
        self.found.clear()
        self.rest = self.rest[:0]
        return found


def read_line(lines, call, *args):
    """Wait for a line."""
    return Wait(call) if args else Wait(lines.line, lines.has_line, watch=lines.watch)


def read_all(lines, call, *args):
    """Wait for the end of a pipe."""
    return Wait(call) if args else Wait(lines.all, lines.has_all, watch=lines.watch)


PIPE_CALLS = {"readline": read_line, "read": read_all}


# --- sockets ---------------------------------------------------------------------------------


def is_ready(number, way):
    """Whether a descriptor is ready now."""
    poll = _sandbox_poll()
    poll.register(number, way)
    return bool(poll.poll(0))


def of_socket(socket, call, way):
    """Wait until a socket is ready, as its timeout says."""
    number, timeout = socket.fileno(), socket.gettimeout()
    if number < 0 or timeout == 0:
        return Wait(call)

    def ready():
        return socket.fileno() != number or is_ready(number, way)

    return Wait(call, ready, timeout, late=time_out, watch=((number, way),))


def time_out():
    """Raise what a socket raises whose time is over."""
    raise TimeoutError("timed out")


def readable(number, timeout=None):
    """Wait until a descriptor can be read; the result says whether it can."""
    return until(lambda: is_ready(number, POLL_READ), timeout, ((number, POLL_READ),))


def socket_of(stream):
    """Return the socket that a binary file reads from, or None."""
    raw = getattr(stream, "raw", None)
    socket = getattr(raw, "_sock", None)
    return socket if hasattr(socket, "_sandbox_ways") and raw.readable() else None


def has_input(stream, socket):
    """Whether a binary file of a socket has something to read, or the end, at once."""
    number = socket.fileno()
    if number < 0 or is_ready(number, POLL_READ):
        return True
    timeout = socket.gettimeout()
    socket.settimeout(0)
    try:
        return bool(stream.peek(1))
    finally:
        socket.settimeout(timeout)


def input_of(stream, socket):
    """Wait until a binary file of a socket can be read; the result says whether it can."""
    watch = ((socket.fileno(), POLL_READ),)
    return until(lambda: has_input(stream, socket), socket.gettimeout(), watch)


def of_socket_file(stream, socket, call):
    """Wait until a binary file of a socket can be read, then read it."""
    wait = input_of(stream, socket)
    wait.finish = call
    return wait


def iterate(thing):
    """Return an iterator, or the lines of a pipe."""
    return Wait(lambda: Lines.of(thing) if is_pipe(thing) else iter(thing))


def take_next(source):
    """Wait for the next item: it comes as (item,), and the end as ()."""
    if isinstance(source, Lines):

        def next_line():
            line = source.line()
            return (line,) if line else ()

        return Wait(next_line, source.has_line, watch=source.watch)

    def next_item():
        for item in source:
            return (item,)
        return ()

    if (socket := socket_of(source)) is not None:
        return of_socket_file(source, socket, next_item)
    return Wait(next_item)


def enter(thing):
    """Wait until a lock is free."""
    lock = thing._lock if isinstance(thing, threading.Condition) else thing
    if isinstance(lock, threading.Semaphore):
        return Wait(nothing, lambda: lock._value > 0)
    if isinstance(lock, (threading.Lock, RLock)):
        return Wait(nothing, lambda: not is_taken(lock))
    return Wait(nothing)


def until(ready, timeout=None, watch=()):
    """Wait until `ready()`; the result says whether it is."""
    return Wait(ready, ready, timeout, watch=watch)


STATEMENTS = {
    "iter": iterate,
    "next": take_next,
    "enter": enter,
    "readable": readable,
    "until": until,
    "input": input_of,
}
