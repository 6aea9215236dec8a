"""`subprocess` over the commands of the sandbox.

A child runs to its end when something asks for its result: `wait`, `communicate`, `poll`, a read
from `stdout`, the next child, or the end of the script. Until then what is written to `stdin` is
collected. So a pipeline of several `Popen` works, and a dialogue (write, read, write again) is
refused by name. `run`, `call`, `check_output` and the others are CPython's own, over this `Popen`.
"""

import io
import os
import subprocess

import _agentsandbox
from _agentsandbox import errors, processes

DIALOGUE = (
    "a child that runs beside Python in a dialogue is not available in this sandbox: it has run "
    "to its end when its output is read, so all of its input must be written first "
    "(communicate(input=...))"
)
PIPE, STDOUT, DEVNULL = -1, -2, -3
SIGKILL, SIGTERM = 9, 15


class Input(io.RawIOBase):
    """What is written to the standard input of a child that has not begun."""

    def __init__(self, child):
        self._child = child
        self.data = bytearray()

    def writable(self):
        """Return True."""
        return True

    def write(self, data):
        """Collect bytes for the child."""
        if self.closed:
            raise ValueError("write to closed file")
        if self._child._ended:
            raise NotImplementedError(DIALOGUE)
        self.data += data
        return len(memoryview(data).cast("B"))


class Output(io.RawIOBase):
    """What a child writes to a pipe; the first read runs the child."""

    def __init__(self, child, name):
        self._child = child
        self._name = name
        self._place = 0

    def readable(self):
        """Return True."""
        return True

    def rest(self):
        """Return what is not read yet."""
        self._child._run()
        data = self._child._written[self._name][self._place :]
        self._place += len(data)
        return data

    def readinto(self, buffer):
        """Read bytes that the child wrote."""
        self._child._run()
        data = self._child._written[self._name]
        count = min(len(buffer), len(data) - self._place)
        buffer[:count] = data[self._place : self._place + count]
        self._place += count
        return count


def descriptor(file):
    """Return the descriptor of a file object or number; flush what Python read ahead of it."""
    return file if isinstance(file, int) else file.fileno()


def pipe_behind(file):
    """Return the `Output` behind a stream that another child's PIPE is, else None."""
    while file is not None and not isinstance(file, Output):
        file = getattr(file, "raw", None) or getattr(file, "buffer", None)
    return file


class Popen:
    """A command of the sandbox that runs when its result is asked for."""

    _waiting = []
    _children = {}
    _last = 0

    def __init__(
        self, args, bufsize=-1, executable=None, stdin=None, stdout=None, stderr=None,
        preexec_fn=None, close_fds=True, shell=False, cwd=None, env=None,
        universal_newlines=None, startupinfo=None, creationflags=0, restore_signals=True,
        start_new_session=False, pass_fds=(), *, user=None, group=None, extra_groups=None,
        encoding=None, errors=None, text=None, umask=-1, pipesize=-1, process_group=None,
    ):  # fmt: skip
        self.returncode = None
        self.args = args
        self._begun = self._ended = False
        self._written = {}
        self.stdin = self.stdout = self.stderr = None
        check_options(locals())
        if bufsize is None:
            bufsize = -1
        if not isinstance(bufsize, int):
            raise TypeError("bufsize must be an integer")
        self._argv = words_of(args, shell, executable)
        self._env, self._cwd, self._umask = checked_env(env), cwd, umask
        if cwd is not None:
            check_folder(cwd)
        if not shell or executable is not None:
            processes.find(self._argv[0], env, cwd)
        self.text_mode = bool(encoding or errors or text or universal_newlines)
        self.encoding, self.errors = encoding, errors
        self.pipesize = pipesize
        self._plan(stdin, stdout, stderr, bufsize)
        Popen._last = max(Popen._last, _agentsandbox.process.pid) + 1
        self.pid = Popen._last
        Popen._waiting.append(self)
        if len(Popen._waiting) > 64:
            Popen._waiting[0]._run()

    def _plan(self, stdin, stdout, stderr, bufsize):
        """Decide where the three streams lead, and make the ends of the pipes."""
        self._timeout = None
        self._input = None
        self._fixed = b""
        if stdin is None:
            self._stdin = "inherit"
        elif stdin == DEVNULL:
            self._stdin = "null"
        elif stdin == PIPE:
            self._stdin = "data"
            self._input = Input(self)
            self.stdin = self._wrap(self._input, "w", bufsize)
        elif (source := pipe_behind(stdin)) is not None:
            self._stdin = source
        else:
            self._stdin = descriptor(stdin)
        self._stdout = self._way(stdout, "stdout", bufsize)
        if stderr == STDOUT:
            self._stderr = "stdout"
        else:
            self._stderr = self._way(stderr, "stderr", bufsize)

    def _way(self, target, name, bufsize):
        """Return how the host shall treat an output stream."""
        if target is None:
            return "inherit"
        if target == DEVNULL:
            return "null"
        if target == PIPE:
            setattr(self, name, self._wrap(Output(self, name), "r", bufsize))
            return "data"
        if isinstance(getattr(target, "raw", None), Input) or isinstance(target, Input):
            raise NotImplementedError(DIALOGUE)
        number = descriptor(target)
        if not isinstance(target, int) and number > 2:
            target.flush()
        return number

    def _wrap(self, raw, mode, bufsize):
        """Return the stream object for an end of a pipe."""
        if mode == "w":
            stream = io.BufferedWriter(raw) if bufsize != 0 or self.text_mode else raw
        else:
            stream = io.BufferedReader(raw) if bufsize != 0 or self.text_mode else raw
        if not self.text_mode:
            return stream
        return io.TextIOWrapper(
            stream, encoding=self.encoding, errors=self.errors, write_through=mode == "w"
        )

    def __repr__(self):
        text = f"<{type(self).__name__}: returncode: {self.returncode} args: {self.args!r}>"
        return text[:76] + "...>" if len(text) > 80 else text

    def __class_getitem__(cls, item):
        return cls

    @property
    def universal_newlines(self):
        """Whether the pipes are text streams."""
        return self.text_mode

    def __enter__(self):
        return self

    def __exit__(self, exc_type, value, traceback):
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()
        try:
            if self.stdin:
                self.stdin.close()
        finally:
            if exc_type is not KeyboardInterrupt:
                self.wait()

    def _source(self):
        """Return (how the host finds the input, its bytes)."""
        if self._input is not None:
            if self.stdin is not None and not self.stdin.closed:
                self.stdin.flush()
            return "data", bytes(self._input.data)
        if isinstance(self._stdin, Output):
            return "data", self._stdin.rest()
        return self._stdin, b""

    def _run(self, timeout=None):
        """Run the child unless it has ended; children that were started before run first."""
        if self._ended or self._begun:
            return
        self._begun = True
        while Popen._waiting and Popen._waiting[0] is not self and self in Popen._waiting:
            earlier = Popen._waiting[0]
            if earlier._begun:
                Popen._waiting.pop(0)
            else:
                earlier._run()
        if self in Popen._waiting:
            Popen._waiting.remove(self)
        how, data = self._source()
        self._ended = True
        before = os.umask(self._umask) if self._umask >= 0 else None
        try:
            status, out, err, late = processes.run(
                self._argv, cwd=self._cwd, env=self._env, stdin=how, stdout=self._stdout,
                stderr=self._stderr, timeout=timeout, data=data,
            )  # fmt: skip
        except OSError as error:
            status, out, err, late = 126 if error.errno == 13 else 127, b"", b"", False
        finally:
            if before is not None:
                os.umask(before)
        self._written = {"stdout": out, "stderr": err}
        self._late = late
        self._status = -SIGKILL if late else status

    def poll(self):
        """Run the child if it has not run, and return its status."""
        if self.returncode is None:
            self._run()
            self.returncode = self._status
        return self.returncode

    def wait(self, timeout=None):
        """Run the child if it has not run, and return its status."""
        if self.returncode is None:
            self._run(timeout)
            self.returncode = self._status
            if self._late:
                self._late = False
                raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def communicate(self, input=None, timeout=None):
        """Write the input, run the child, and return (stdout, stderr)."""
        if self.stdin is not None and not self.stdin.closed and not self._ended:
            if input:
                self.stdin.write(input)
            self.stdin.close()
        elif input and self._ended:
            raise ValueError("Cannot send input after starting communication")
        self._run(timeout)
        late, self._late = getattr(self, "_late", False), False
        if late:
            self.returncode = self._status
            raise subprocess.TimeoutExpired(
                self.args, timeout, output=self._written["stdout"] or None,
                stderr=self._written["stderr"] or None,
            )  # fmt: skip
        found = tuple(
            None if stream is None or stream.closed else stream.read()
            for stream in (self.stdout, self.stderr)
        )
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()
        return found

    def send_signal(self, sig):
        """End a child that has not run, as the signal would."""
        if not self._ended and sig not in (0, 18, 28):
            self._begun = self._ended = True
            self._late = False
            self._written = {"stdout": b"", "stderr": b""}
            self._status = -int(sig)
            if self in Popen._waiting:
                Popen._waiting.remove(self)

    def terminate(self):
        """End a child that has not run."""
        self.send_signal(SIGTERM)

    def kill(self):
        """End a child that has not run."""
        self.send_signal(SIGKILL)


def check_options(given):
    """Raise for options that CPython or this sandbox refuses."""
    if given["startupinfo"] is not None:
        raise ValueError("startupinfo is only supported on Windows platforms")
    if given["creationflags"] != 0:
        raise ValueError("creationflags is only supported on Windows platforms")
    if given["text"] is not None and given["universal_newlines"] is not None:
        if bool(given["text"]) != bool(given["universal_newlines"]):
            raise subprocess.SubprocessError(
                "Cannot disambiguate when both text and universal_newlines are supplied but "
                "different. Pass one or the other."
            )
    if given["preexec_fn"] not in (None, os.setsid, getattr(os, "setpgrp", None)):
        raise NotImplementedError(
            "subprocess: preexec_fn is not available in this sandbox's Python: children do not "
            "begin as copies of this process"
        )
    if given["pass_fds"]:
        raise NotImplementedError(
            "subprocess: pass_fds is not available in this sandbox's Python; use stdin, stdout "
            "and stderr"
        )
    for name, own in (("user", "uid"), ("group", "gid")):
        wanted = given[name]
        if wanted is not None and wanted not in (
            getattr(_agentsandbox.process, own),
            _agentsandbox.process.user,
        ):
            raise errors.error(1)


def words_of(args, shell, executable):
    """Return the words of the command."""
    if isinstance(args, (str, bytes)) or hasattr(args, "__fspath__"):
        words = [os.fsdecode(args)]
    else:
        words = [os.fsdecode(word) for word in args]
    if not words:
        raise IndexError("list index out of range")
    if any("\0" in word for word in words):
        raise ValueError("embedded null byte")
    if shell:
        shell_words = ["/bin/sh", "-c", *words]
        if executable is not None:
            shell_words[0] = os.fsdecode(executable)
        return shell_words
    if executable is not None:
        words[0] = os.fsdecode(executable)
    return words


def checked_env(env):
    """Return the variables for a child; raise what CPython raises for bad ones."""
    if env is None:
        return None
    found = {}
    for name, value in env.items():
        name, value = os.fsdecode(name), os.fsdecode(value)
        if "=" in name[1:] or not name:
            raise ValueError("illegal environment variable name")
        if "\0" in name + value:
            raise ValueError("embedded null byte")
        found[name] = value
    return found


def check_folder(cwd):
    """Raise what a child raises that cannot go to its directory."""
    if not os.path.isdir(cwd):
        raise errors.error(20 if os.path.exists(cwd) else 2, cwd)


def apply(module):
    """Put the sandbox's `Popen` in place of CPython's."""
    Popen.__module__ = "subprocess"
    module.Popen = Popen

    def run_rest():
        """Run the children that nobody asked for, at the end of the script."""
        while Popen._waiting:
            Popen._waiting[0]._run()

    def send(pid, number):
        """Send a signal to a child by its process id; return whether there is such a child."""
        for child in Popen._waiting:
            if child.pid == pid:
                child.send_signal(number)
                return True
        return 0 < pid <= Popen._last and pid > _agentsandbox.process.pid

    module._run_rest = run_rest
    module._send = send
