"""`asyncio` without sockets: an event loop that waits for pipes and timers.

Coroutines, tasks, timers, queues, locks, `to_thread` and subprocesses work; connections and servers
are refused by name.
"""

import os
import select
import threading
import time
from asyncio import base_events, events, streams, subprocess, tasks, unix_events

NOTHING = (
    "asyncio: nothing can wake the event loop: no task is ready, no timer is set, and no thread "
    "or pipe is waited for"
)
NETWORK = "the network is not available in this sandbox's Python"


PIPE_BYTES = 65536
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05  # seconds between two looks whether a child has ended


class Selector:
    """In place of a selector: waits for pipes and the next timer."""

    def __init__(self, ready):
        self.ready = ready
        self.readers = {}
        self.writers = {}

    def select(self, timeout=None):
        """Return the handles of the pipes that are ready before the next timer; threads go on."""
        watched = bool(self.readers or self.writers)
        if threading._sandbox_turns.suspended:
            ready = self.ready
            threading._sandbox_turns.wait(lambda: ready or self.poll(0), timeout, watched)
            return self.poll(0)
        if watched:
            return self.poll(None if timeout is None else timeout * 1000)
        if timeout is None:
            raise RuntimeError(NOTHING)
        if timeout > 0:
            time.sleep(timeout)
        return ()

    def poll(self, milliseconds):
        """Return the handles of the pipes that are ready."""
        if not self.readers and not self.writers:
            return ()
        poll = select.poll()
        for fd in self.readers.keys() | self.writers.keys():
            way = (fd in self.readers and select.POLLIN) | (fd in self.writers and select.POLLOUT)
            poll.register(fd, way)
        ways = ((self.readers, ~select.POLLOUT), (self.writers, ~select.POLLIN))
        return [
            handles[fd]
            for fd, way in poll.poll(milliseconds)
            for handles, wanted in ways
            if way & wanted and fd in handles
        ]


class SelectorEventLoop(base_events.BaseEventLoop):
    """An event loop without sockets."""

    def __init__(self):
        super().__init__()
        self._selector = Selector(self._ready)

    def _process_events(self, handles):
        """Call the callbacks of pipes in the next turn."""
        self._ready.extend(handle for handle in handles if not handle.cancelled())

    def add_reader(self, fd, callback, *args):
        """Call `callback` whenever a descriptor can be read."""
        self._selector.readers[number(fd)] = events.Handle(callback, args, self, None)

    def remove_reader(self, fd):
        """Call no callback for reading any more; return whether there was one."""
        return self._selector.readers.pop(number(fd), None) is not None

    def add_writer(self, fd, callback, *args):
        """Call `callback` whenever a descriptor can be written."""
        self._selector.writers[number(fd)] = events.Handle(callback, args, self, None)

    def remove_writer(self, fd):
        """Call no callback for writing any more; return whether there was one."""
        return self._selector.writers.pop(number(fd), None) is not None

    def _write_to_self(self):
        """Do nothing: nobody waits in another thread."""

    def close(self):
        """Close the loop."""
        if self.is_running():
            raise RuntimeError("Cannot close a running event loop")
        super().close()

    def add_signal_handler(self, sig, callback, *args):
        """Call `callback` in the loop when a signal is raised."""
        import signal

        signal.signal(sig, lambda *_: self.call_soon(callback, *args))

    def remove_signal_handler(self, sig):
        """Set the signal's default again."""
        import signal

        return signal.signal(sig, signal.SIG_DFL) is not signal.SIG_DFL

    async def create_connection(self, *args, **more):
        """Refuse: there is no network."""
        raise OSError(101, NETWORK)

    create_server = create_unix_connection = create_unix_server = create_connection
    create_datagram_endpoint = sock_connect = sock_accept = create_connection
    getaddrinfo = getnameinfo = create_connection


def number(fd):
    """Return the descriptor of a number or file object."""
    return fd if isinstance(fd, int) else fd.fileno()


class Process:
    """A child of asyncio."""

    def __init__(self, child, limit):
        self._child = child
        self.pid = child.pid
        self.stdin = None if child.stdin is None else Writer(child.stdin)
        self.stdout = None if child.stdout is None else Reader(child.stdout, limit)
        self.stderr = None if child.stderr is None else Reader(child.stderr, limit)

    def __repr__(self):
        return f"<Process {self.pid}>"

    @property
    def returncode(self):
        """The status, or None while the child runs."""
        return self._child.poll()

    async def wait(self):
        """Wait for the child's end and return its status."""
        pause = FIRST_PAUSE
        while self._child.poll() is None:
            await tasks.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        return self._child.returncode

    async def communicate(self, input=None):
        """Write the input, wait for the child's end and return (stdout, stderr)."""
        work = [self._feed(input), read_all(self.stdout), read_all(self.stderr)]
        _, stdout, stderr = await tasks.gather(*work)
        await self.wait()
        return stdout, stderr

    async def _feed(self, input):
        if self.stdin is not None:
            try:
                if input:
                    self.stdin.write(input)
                    await self.stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.stdin.close()

    def send_signal(self, signal):
        """Send a signal to the child."""
        if self._child.poll() is not None:
            raise ProcessLookupError
        self._child.send_signal(signal)

    def terminate(self):
        """End the child with SIGTERM."""
        self.send_signal(15)

    def kill(self):
        """End the child with SIGKILL."""
        self.send_signal(9)


async def read_all(reader):
    """Return all that a child writes, or None without a pipe."""
    return None if reader is None else await reader.read()


class Writer:
    """The standard input of a child."""

    def __init__(self, stream):
        self._loop = events.get_running_loop()
        self._stream = stream
        self._held = bytearray()
        self._closing = False
        self._error = None
        self._waiting = []

    def write(self, data):
        """Write bytes to the child when its pipe has room."""
        if self._closing:
            raise RuntimeError("unable to perform operation on a closed stdin")
        if not self._held and data and self._error is None:
            self._loop.add_writer(self._stream, self._write_some)
        self._held += data

    def _write_some(self):
        try:
            count = os.write(self._stream.fileno(), self._held[:PIPE_BYTES])
        except OSError as error:
            self._error = error
            count = len(self._held)
        del self._held[:count]
        if not self._held:
            self._loop.remove_writer(self._stream)
            waiting, self._waiting = self._waiting, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)
            if self._closing:
                self._stream.close()

    def writelines(self, lines):
        """Write bytes to the child."""
        self.write(b"".join(lines))

    async def drain(self):
        """Wait until all is written."""
        if self._held:
            future = self._loop.create_future()
            self._waiting.append(future)
            await future
        if self._error is not None:
            raise self._error

    def close(self):
        """End the input, as soon as all is written."""
        self._closing = True
        if not self._held:
            self._stream.close()

    write_eof = close

    def can_write_eof(self):
        """Return True."""
        return True

    def is_closing(self):
        """Whether the input is ended."""
        return self._closing

    async def wait_closed(self):
        """Wait until all is written."""
        if self._held:
            await self.drain()


class Reader(streams.StreamReader):
    """The output of a child, read as it comes."""

    def __init__(self, stream, limit):
        loop = events.get_running_loop()
        super().__init__(limit, loop)
        self._stream = stream
        loop.add_reader(stream, self._read_some)

    def _read_some(self):
        data = os.read(self._stream.fileno(), PIPE_BYTES)
        if data:
            self.feed_data(data)
        else:
            self._loop.remove_reader(self._stream)
            self._stream.close()
            self.feed_eof()


def apply(module):
    """Use the loop without sockets everywhere, and children of `subprocess`."""
    loop = SelectorEventLoop
    loop.__module__ = "asyncio"
    for place in (module, unix_events):
        place.SelectorEventLoop = loop
        place.EventLoop = loop
    for name in ("_UnixDefaultEventLoopPolicy", "_DefaultEventLoopPolicy"):
        if policy := getattr(unix_events, name, None):
            policy._loop_factory = loop
    events.new_event_loop = module.new_event_loop = loop

    async def create_subprocess_exec(
        program, *args, stdin=None, stdout=None, stderr=None, limit=PIPE_BYTES, **more
    ):
        """Return a child that runs a program."""
        import subprocess as children

        ways = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "bufsize": 0}
        return Process(children.Popen([program, *args], **ways, **more), limit)

    async def create_subprocess_shell(
        cmd, stdin=None, stdout=None, stderr=None, limit=PIPE_BYTES, **more
    ):
        """Return a child that runs a command line."""
        import subprocess as children

        ways = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "bufsize": 0}
        return Process(children.Popen(cmd, shell=True, **ways, **more), limit)

    for place in (module, subprocess):
        place.create_subprocess_exec = create_subprocess_exec
        place.create_subprocess_shell = create_subprocess_shell
    subprocess.Process = Process
