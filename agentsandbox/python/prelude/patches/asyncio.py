"""`asyncio` on the sandbox's sockets, and its children.

The event loop is CPython's selector event loop without the socket that wakes it from other threads:
there is one thread. Its selector lets other threads go on. TLS ends on the host's side (see
`patches/socket.py`), so a connection with `ssl` is a plain one that is marked. Datagrams, Unix
sockets, servers with TLS and `start_tls` are refused by name.
"""

import os
import threading
import time
from asyncio import events, selector_events, streams, subprocess, tasks, unix_events
from selectors import EVENT_READ, EVENT_WRITE, PollSelector

from _agentsandbox.patches.select import pairs

NOTHING = (
    "asyncio: nothing can wake the event loop: no task is ready, no timer is set, and no thread, "
    "pipe or socket is waited for"
)
EOPNOTSUPP = 95
REFUSED = "asyncio: {} are not available in this sandbox's Python"


PIPE_BYTES = 65536
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05  # seconds between two looks whether a child has ended


class Selector(PollSelector):
    """A selector that knows the callbacks of its loop that are ready; other threads go on."""

    ready = ()

    def select(self, timeout=None):
        """Return what is ready before the next timer."""
        keys = list(self.get_map().values())
        turns = threading._sandbox_turns
        if turns.others():
            ready, look = self.ready, super().select
            reads = [key.fd for key in keys if key.events & EVENT_READ]
            writes = [key.fd for key in keys if key.events & EVENT_WRITE]
            turns.wait(lambda: ready or look(0), timeout, watch=pairs(reads, writes))
            return look(0)
        if keys:
            return super().select(timeout)
        if timeout is None:
            raise RuntimeError(NOTHING)
        if timeout > 0:
            time.sleep(timeout)
        return []


class SelectorEventLoop(selector_events.BaseSelectorEventLoop):
    """An event loop for pipes and for sockets of the sandbox."""

    def __init__(self, selector=None):
        super().__init__(Selector() if selector is None else selector)
        self._selector.ready = self._ready

    def _make_self_pipe(self):
        """Do nothing: nobody waits in another thread."""

    _close_self_pipe = _write_to_self = _make_self_pipe

    def add_signal_handler(self, sig, callback, *args):
        """Call `callback` in the loop when a signal is raised."""
        import signal

        signal.signal(sig, lambda *_: self.call_soon(callback, *args))

    def remove_signal_handler(self, sig):
        """Set the signal's default again."""
        import signal

        return signal.signal(sig, signal.SIG_DFL) is not signal.SIG_DFL

    def _make_ssl_transport(
        self, rawsock, protocol, sslcontext, waiter=None, *,
        server_side=False, server_hostname=None, extra=None, server=None, **times
    ):  # fmt: skip
        """Mark a connection to a host outside as one of https."""
        import ssl

        try:
            if server_side:
                raise OSError(EOPNOTSUPP, REFUSED.format("servers with TLS"))
            if sslcontext is None:
                sslcontext = ssl.create_default_context()
            rawsock._start_tls(sslcontext, server_hostname)
        except OSError:
            rawsock.close()
            raise
        return self._make_socket_transport(rawsock, protocol, waiter, extra=extra, server=server)

    async def start_tls(self, *args, **more):
        """Refuse."""
        raise OSError(EOPNOTSUPP, REFUSED.format("connections that become TLS"))

    async def create_datagram_endpoint(self, *args, **more):
        """Refuse."""
        raise OSError(EOPNOTSUPP, REFUSED.format("datagrams"))

    async def create_unix_connection(self, *args, **more):
        """Refuse."""
        raise OSError(EOPNOTSUPP, REFUSED.format("Unix sockets"))

    create_unix_server = create_unix_connection


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
    """Use the loop everywhere, and children of `subprocess`."""
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
