"""Functions of `os` for processes: commands of the sandbox run through the door.

WASI has no processes. A command that Python starts is a process of the sandbox and runs beside it;
`os.exec*` runs one and leaves with its status. `os.fork` and what rests on it are refused.
"""

import os
import sys
import time

import _agentsandbox
from _agentsandbox import errors

NO_FORK = (
    "os.{} is not available in this sandbox's Python: there is one process and one thread; "
    "use subprocess to run a command, and concurrent.futures or threading run inline"
)
SIGKILL = 9


def begin(argv, *, env=None, cwd=None, streams=(0, 1, 2), umask=-1):
    """Start a command of the sandbox and return its process id.

    `streams` are the descriptors that become its 0, 1 and 2. Raises the OSError of `execvp`.
    """
    words = [os.fsdecode(word) for word in argv]
    variables = os.environ if env is None else env
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}
    folder = os.getcwd() if cwd is None else os.path.join(os.getcwd(), os.fsdecode(cwd))
    if any("\0" in text for text in (*words, folder, *variables, *variables.values())):
        raise ValueError("embedded null byte")
    if any("=" in name for name in variables):
        raise ValueError("illegal environment variable name")
    answer, _ = _agentsandbox.door.ask(
        "spawn",
        argv=words,
        cwd=folder,
        env=variables,
        streams=list(streams),
        umask=_agentsandbox.process.umask if umask < 0 else umask,
    )
    if number := answer.get("errno"):
        raise errors.error(number, os.fsdecode(cwd if answer.get("cwd") else argv[0]))
    return answer["pid"]


def run(argv, env=None):
    """Run a command of the sandbox to its end; return its status, negative for a signal."""
    return wait_for(begin(argv, env=env))[1]


def wait_for(pid, block=True):
    """Return (pid, status) of a child that ended, (0, 0) if none did."""
    if not block or not others_are_busy():
        answer = _agentsandbox.door.demand("wait", pid=pid, block=block)
        return answer["pid"], answer["status"]
    found, pause = wait_for(pid, False), 0.001
    while not found[0]:  # threads go on meanwhile, they may read what the child writes
        time.sleep(pause)
        found, pause = wait_for(pid, False), min(pause * 2, 0.02)
    return found


def others_are_busy():
    """Whether threads of this process go on, or an alarm may ring, while it waits."""
    turns = getattr(sys.modules.get("threading"), "_sandbox_turns", None)
    alarm = getattr(sys.modules.get("signal"), "_sandbox_alarm", None)
    return bool((turns and turns.suspended) or (alarm and alarm.time is not None))


def pipe():
    """Return the descriptors of the reading and the writing end of a new pipe."""
    return tuple(_agentsandbox.door.demand("pipe")["fds"])


def pipe2(flags, /):
    """Return the ends of a new pipe; of the flags, O_NONBLOCK counts."""
    ends = pipe()
    if flags & os.O_NONBLOCK:
        for end in ends:
            os.set_blocking(end, False)
    return ends


def encoded(status):
    """Return a status as `wait` gives it."""
    return -status if status < 0 else (status & 0xFF) << 8


def system(command):
    """Run a command line in the sandbox's shell; return its status as `wait` gives it."""
    sys.audit("os.system", command)
    try:
        status = run(["sh", "-c", command])
    except OSError:
        return 127 << 8
    return encoded(status)


def popen(cmd, mode="r", buffering=-1):
    """Return a file that is connected to the input or output of a command line."""
    import subprocess

    if not isinstance(cmd, str):
        raise TypeError(f"invalid cmd type ({type(cmd)}, expected string)")
    if mode not in ("r", "w"):
        raise ValueError(f"invalid mode {mode!r}")
    if buffering == 0 or buffering is None:
        raise ValueError("popen() does not support unbuffered streams")
    if mode == "r":
        child = subprocess.Popen(cmd, shell=True, text=True, stdout=subprocess.PIPE)
        return Closing(child.stdout, child)
    child = subprocess.Popen(cmd, shell=True, text=True, stdin=subprocess.PIPE)
    return Closing(child.stdin, child)


class Closing:
    """A stream of a command; `close` waits for the command and returns its status or None."""

    def __init__(self, stream, child):
        self._stream = stream
        self._child = child

    def close(self):
        """Close the stream, wait, and return None for status 0, else the status times 256."""
        self._stream.close()
        status = self._child.wait()
        return None if status == 0 else (status << 8 if status > 0 else status)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def __iter__(self):
        return iter(self._stream)


# --- exec ----------------------------------------------------------------------------------


def replace(file, args, env):
    """Run a program in place of this one: run it, then leave with its status."""
    args = list(args)
    if not args:
        raise ValueError("exec: args must not be empty")
    status = run([file, *args[1:]], env)
    os._exit(status if status >= 0 else 128 - status)


def execv(path, args):
    """Run the program `path` in place of this one."""
    replace(with_folder(path), args, None)


def execve(path, args, env):
    """Run the program `path` in place of this one, with these variables."""
    replace(with_folder(path), args, env)


def execvp(file, args):
    """Run a program that is looked up in PATH in place of this one."""
    replace(file, args, None)


def execvpe(file, args, env):
    """Run a program that is looked up in PATH in place of this one, with these variables."""
    replace(file, args, env)


def execl(file, *args):
    """Run the program `file` in place of this one."""
    execv(file, args)


def execle(file, *args):
    """Run the program `file` in place of this one; the last argument is its variables."""
    execve(file, args[:-1], args[-1])


def execlp(file, *args):
    """Run a program that is looked up in PATH in place of this one."""
    execvp(file, args)


def execlpe(file, *args):
    """Run a program that is looked up in PATH, with the variables of the last argument."""
    execvpe(file, args[:-1], args[-1])


def with_folder(path):
    """Return a path that is not looked up in PATH."""
    text = os.fsdecode(path)
    return text if "/" in text else "./" + text


# --- spawn, wait ---------------------------------------------------------------------------


def spawn(mode, file, args, env):
    """Run a program to its end; return its status, or with P_NOWAIT its process id."""
    args = list(args)
    if not args or not args[0]:
        raise ValueError("spawnv() arg 2 first element cannot be empty")
    words = [file, *args[1:]]
    try:
        pid = begin(words, env=env)
    except OSError:  # there it is the child that fails
        pid = begin(["sh", "-c", "exit 127"])
    return pid if mode != os.P_WAIT else wait_for(pid)[1]


def spawnv(mode, file, args):
    """Run the program `file`."""
    return spawn(mode, with_folder(file), args, None)


def spawnve(mode, file, args, env):
    """Run the program `file` with these variables."""
    return spawn(mode, with_folder(file), args, env)


def spawnvp(mode, file, args):
    """Run a program that is looked up in PATH."""
    return spawn(mode, file, args, None)


def spawnvpe(mode, file, args, env):
    """Run a program that is looked up in PATH, with these variables."""
    return spawn(mode, file, args, env)


def spawnl(mode, file, *args):
    """Run the program `file`."""
    return spawnv(mode, file, args)


def spawnle(mode, file, *args):
    """Run the program `file`; the last argument is its variables."""
    return spawnve(mode, file, args[:-1], args[-1])


def spawnlp(mode, file, *args):
    """Run a program that is looked up in PATH."""
    return spawnvp(mode, file, args)


def spawnlpe(mode, file, *args):
    """Run a program that is looked up in PATH, with the variables of the last argument."""
    return spawnvpe(mode, file, args[:-1], args[-1])


def posix_spawn(path, argv, env, *, file_actions=None, **more):
    """Start a program; return its process id."""
    return spawned(with_folder(path), argv, env, file_actions, more)


def posix_spawnp(path, argv, env, *, file_actions=None, **more):
    """Start a program that is looked up in PATH; return its process id."""
    return spawned(path, argv, env, file_actions, more)


def spawned(path, argv, env, file_actions, more):
    """Run a program of posix_spawn."""
    if file_actions or any(more.values()):
        raise NotImplementedError(
            "os.posix_spawn takes no file actions or attributes in this sandbox's Python; "
            "use subprocess"
        )
    return begin([path, *list(argv)[1:]], env=env)


def waitpid(pid, options, /):
    """Return (pid, status) of a child that ended; with WNOHANG, (0, 0) while it runs."""
    found, status = wait_for(-1 if pid in (-1, 0) else pid, not options & os.WNOHANG)
    return found, encoded(status)


def wait():
    """Return (pid, status) of the next child that ends."""
    return waitpid(-1, 0)


def wait3(options):
    """Return (pid, status, use) of the next child that ends."""
    return wait4(-1, options)


def wait4(pid, options):
    """Return (pid, status, use) of a child that ended."""
    import resource

    return (*waitpid(pid, options), resource.getrusage(resource.RUSAGE_CHILDREN))


def waitid(idtype, id, options, /):
    """Refuse: what it tells is not known here."""
    raise NotImplementedError("os.waitid is not available in this sandbox's Python; use os.waitpid")


def WIFEXITED(status):
    """Whether a command ended by itself."""
    return status & 0x7F == 0


def WEXITSTATUS(status):
    """Return the exit status."""
    return status >> 8 & 0xFF


def WIFSIGNALED(status):
    """Whether a signal ended a command."""
    return 0 < status & 0x7F < 0x7F


def WTERMSIG(status):
    """Return the signal that ended a command."""
    return status & 0x7F


def WIFSTOPPED(status):
    """Return False: commands are not stopped."""
    return False


WIFCONTINUED = WCOREDUMP = WIFSTOPPED


def WSTOPSIG(status):
    """Return the signal that stopped a command."""
    return status >> 8 & 0xFF


def waitstatus_to_exitcode(status):
    """Return the exit status, or minus the signal."""
    return WEXITSTATUS(status) if WIFEXITED(status) else -WTERMSIG(status)


# --- signals and what is refused -----------------------------------------------------------


def kill(pid, signal, /):
    """Send a signal to a process of the sandbox; to this one, do what the signal asks."""
    if pid in (_agentsandbox.process.pid, 0):
        return to_self(int(signal))
    answer, _ = _agentsandbox.door.ask("kill", pid=pid, signal=int(signal))
    if number := answer.get("errno"):
        raise errors.error(number)
    return None


def to_self(number):
    """Run this process's handler for a signal, or end as the signal ends a process."""
    import signal

    if not 0 <= number <= 64:
        raise errors.error(22)
    if number == 0:
        return
    handler = signal.SIG_DFL if number in (SIGKILL, 19) else signal.getsignal(number)
    if callable(handler) or (handler == signal.SIG_IGN):
        if callable(handler):
            handler(number, sys._getframe(2))
        return
    if number in (17, 18, 23, 28):  # CHLD, CONT, URG, WINCH change nothing
        return
    os._exit(128 + number)


def killpg(pgid, signal, /):
    """Send a signal to the own process group: this process."""
    kill(pgid, signal)


def refusal(name):
    """Return a function that refuses to be called."""

    def refuse(*args, **more):
        raise NotImplementedError(NO_FORK.format(name))

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


fork, forkpty = refusal("fork"), refusal("forkpty")


def setsid():
    """Begin a session: there is nothing that it would change."""
    return _agentsandbox.process.pid


def setpgid(pid, pgrp, /):
    """Join a process group: there is nothing that it would change."""


def own_id(wanted, own):
    """Raise EPERM unless the id is the own one."""
    if wanted not in (-1, own):
        raise errors.error(1)


def setuid(uid, /):
    """Take the own user id; others raise PermissionError."""
    own_id(uid, _agentsandbox.process.uid)


def setgid(gid, /):
    """Take the own group id; others raise PermissionError."""
    own_id(gid, _agentsandbox.process.gid)


seteuid, setegid = setuid, setgid
