"""`asyncio` without sockets: an event loop that sleeps between its timers.

Coroutines, tasks, timers, queues, locks, `to_thread` and subprocesses work. A subprocess runs to
its end when its result is awaited (see `patches/subprocess.py`); connections and servers are
refused by name.
"""

import time
from asyncio import base_events, events, streams, subprocess, unix_events

NOTHING = (
    "asyncio: nothing can wake the event loop: no task is ready and no timer is set; threads, "
    "sockets and signals do not run beside it in this sandbox's Python"
)
NETWORK = "the network is not available in this sandbox's Python"


class Clock:
    """In place of a selector: waits for the next timer."""

    @staticmethod
    def select(timeout=None):
        """Sleep until the next timer; there are no events."""
        if timeout is None:
            raise RuntimeError(NOTHING)
        if timeout > 0:
            time.sleep(timeout)
        return ()


class SelectorEventLoop(base_events.BaseEventLoop):
    """An event loop without sockets."""

    def __init__(self):
        super().__init__()
        self._selector = Clock()

    def _process_events(self, events):
        """Do nothing: there are no events."""

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


class Process:
    """A child of asyncio; it runs when its result is awaited."""

    def __init__(self, child, streams):
        self._child = child
        self.pid = child.pid
        self.stdin = None if child.stdin is None else Writer(child.stdin)
        self.stdout = None if child.stdout is None else streams(child.stdout)
        self.stderr = None if child.stderr is None else streams(child.stderr)

    @property
    def returncode(self):
        """The status, or None while the child did not run."""
        return self._child.returncode

    async def wait(self):
        """Run the child and return its status."""
        return self._child.wait()

    async def communicate(self, input=None):
        """Write the input, run the child and return (stdout, stderr)."""
        return self._child.communicate(input)

    def send_signal(self, signal):
        """End a child that has not run."""
        self._child.send_signal(signal)

    def terminate(self):
        """End a child that has not run."""
        self._child.terminate()

    def kill(self):
        """End a child that has not run."""
        self._child.kill()


class Writer:
    """The standard input of a child."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, data):
        """Collect bytes for the child."""
        self._stream.write(data)

    def writelines(self, lines):
        """Collect bytes for the child."""
        self._stream.writelines(lines)

    async def drain(self):
        """Return: nothing is waited for."""

    def close(self):
        """End the input."""
        self._stream.close()

    write_eof = close

    def is_closing(self):
        """Whether the input is ended."""
        return self._stream.closed

    async def wait_closed(self):
        """Return: nothing is waited for."""


class Reader(streams.StreamReader):
    """The output of a child; the first read runs the child."""

    def __init__(self, stream):
        super().__init__()
        self._stream = stream

    async def _wait_for_data(self, name):
        self.feed_data(self._stream.read())
        self.feed_eof()

    async def read(self, n=-1):
        """Read up to `n` bytes, or all."""
        if not self._eof:
            await self._wait_for_data("read")
        return await super().read(n)


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
        program, *args, stdin=None, stdout=None, stderr=None, limit=0, **more
    ):
        """Return a child that runs a program."""
        import subprocess as children

        child = children.Popen([program, *args], stdin=stdin, stdout=stdout, stderr=stderr, **more)
        return Process(child, Reader)

    async def create_subprocess_shell(cmd, stdin=None, stdout=None, stderr=None, limit=0, **more):
        """Return a child that runs a command line."""
        import subprocess as children

        child = children.Popen(cmd, shell=True, stdin=stdin, stdout=stdout, stderr=stderr, **more)
        return Process(child, Reader)

    for place in (module, subprocess):
        place.create_subprocess_exec = create_subprocess_exec
        place.create_subprocess_shell = create_subprocess_shell
    subprocess.Process = Process
