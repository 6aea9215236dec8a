# ruff: noqa: E501, ISC004
"""What the guest's own part promises beyond the corpus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsandbox import Sandbox

pytest.importorskip("wasmtime")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(python=True) as made:
        if "agentsandbox python prepare" in made.execute("python3 -c pass").stderr:
            pytest.skip("the runtime is not prepared: run `agentsandbox python prepare`")
        yield made


def run(sandbox: Sandbox, script: str) -> tuple[str, str, int]:
    sandbox.fs.write_bytes("/tmp/script.py", script.encode())
    result = sandbox.execute("cd /tmp && python3 script.py")
    return result.stdout, result.stderr, result.exit_code


OPTIONS = {
    "python3 -uc 'print(1)' a": ("1\n", "", 0),
    "python3 -Wignore -c 'import warnings; warnings.warn(1)'": ("", "", 0),
    "python3 -OOc 'def f(): \"doc\"\nprint(__debug__, f.__doc__)'": ("False None\n", "", 0),
    "python3 -I -c 'import sys; print(sys.flags.isolated, sys.path[0][:5])'": ("1 /usr/\n", "", 0),
    "python3 -c 'import sys; print(sys.argv, sys.orig_argv[0])' -- -x": (
        "['-c', '--', '-x'] python3\n",
        "",
        0,
    ),
    "python3 -i -c 'x = 5' <<< 'print(x)'": ("5\n", ">>> >>> \n", 0),
    "echo 'print(__name__, __file__)' | python3 - a": ("__main__ <stdin>\n", "", 0),
    "python3 -Z": (
        "",
        "Unknown option: -Z\n"
        "usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ...\n"
        "Try `python -h' for more information.\n",
        2,
    ),
    "python3 -X importtime -c 1": (
        "",
        "python3: the option -X importtime is not available in the sandbox: "
        "use time.perf_counter() around the imports\n",
        1,
    ),
    "python3 /nope.py": (
        "",
        "python3: can't open file '/nope.py': [Errno 2] No such file or directory\n",
        2,
    ),
}


@pytest.mark.parametrize("command", OPTIONS)
def test_options(sandbox: Sandbox, command: str) -> None:
    result = sandbox.execute(command)
    assert (result.stdout, result.stderr, result.exit_code) == OPTIONS[command]


ENDS = {
    "import sys; sys.exit('bye')": ("", "bye\n", 1),
    "raise SystemExit(300)": ("", "", 44),
    "import os; os.kill(os.getpid(), 15)": ("", "", 143),
    "open('/tmp/end', 'w').write('kept')\nprint(open('/tmp/end').read())": ("kept\n", "", 0),
    "import atexit\natexit.register(print, 'bye')\nprint('hi')": ("hi\nbye\n", "", 0),
    "class A:\n    def __del__(self): print('gone')\na = A()\na.itself = a": ("gone\n", "", 0),
    "import gzip\nf = gzip.open('/tmp/x.gz', 'wb')\nf.write(b'x')": ("", "", 0),
}


@pytest.mark.parametrize("script", ENDS)
def test_ends(sandbox: Sandbox, script: str) -> None:
    assert run(sandbox, script) == ENDS[script]


def test_what_is_not_closed_is_written(sandbox: Sandbox) -> None:
    run(
        sandbox,
        "import gzip\nf = gzip.open('/tmp/y.gz', 'wb')\nf.write(b'y')\ng = open('/tmp/z', 'w')\ng.write('z')",
    )
    assert sandbox.execute("zcat /tmp/y.gz; cat /tmp/z").stdout == "yz"


def test_a_broken_pipe_is_told_at_the_end(sandbox: Sandbox) -> None:
    result = sandbox.execute(
        "python3 -c 'for i in range(9**5): print(i)' | head -n 1; echo ${PIPESTATUS[0]}"
    )
    assert result.stdout == "0\n120\n"
    assert result.stderr.endswith(
        "BrokenPipeError: [Errno 32] Broken pipe\n"
        "Exception ignored while flushing sys.stdout:\n"
        "BrokenPipeError: [Errno 32] Broken pipe\n"
    )


PROCESSES = {
    "import subprocess as s\nprint(s.run(['echo', 'a'], capture_output=True, text=True).stdout)": "a\n\n",
    "import subprocess as s\nprint(s.check_output('cat; exit 0', shell=True, input=b'x'))": "b'x'\n",
    "import subprocess as s\np = s.Popen(['printf', r'b\\na\\n'], stdout=s.PIPE)\n"
    "q = s.Popen(['sort'], stdin=p.stdout, stdout=s.PIPE, text=True)\nprint(q.communicate())": (
        "('a\\nb\\n', None)\n"
    ),
    "import subprocess as s\ntry: s.run(['sleep', '9'], timeout=0.1)\n"
    "except s.TimeoutExpired as e: print(e)": "Command '['sleep', '9']' timed out after 0.1 seconds\n",
    "import subprocess as s\ntry: s.run(['nope'])\nexcept FileNotFoundError as e: print(e)": (
        "[Errno 2] No such file or directory: 'nope'\n"
    ),
    "import subprocess as s\np = s.Popen(['cat'], stdin=s.PIPE, stdout=s.PIPE, text=True)\n"
    "for word in 'ab': print(word, file=p.stdin, flush=True); print(p.stdout.readline(), p.poll())\n"
    "p.stdin.close(); print(p.wait())": "a\n None\nb\n None\n0\n",
    "import subprocess as s, sys\np = s.Popen('echo 1; read a; echo 2', shell=True, stdin=s.PIPE, "
    "stdout=s.PIPE)\nprint(p.stdout.readline(), p.poll())\np.stdin.close(); print(p.stdout.read())": (
        "b'1\\n' None\nb'2\\n'\n"
    ),
    "import subprocess as s\nd = b'x' * 300_000\n"
    "print(s.run(['cat'], input=d, capture_output=True).stdout == d)": "True\n",
    "import os, subprocess as s\nos.mkfifo('fifo'); p = s.Popen(['cat', 'fifo'], stdout=s.PIPE)\n"
    "s.run('echo x > fifo', shell=True); print(p.communicate())": "(b'x\\n', None)\n",
    "import subprocess as s\np = s.Popen(['sleep', '9']); p.terminate(); print(p.wait(), p.poll())": (
        "-15 -15\n"
    ),
    "import os, subprocess as s\nos.umask(0o77); s.run(['touch', 'u'])\n"
    "print(oct(os.stat('u').st_mode & 0o777))": "0o600\n",
    "import subprocess as s\nwith open('i', 'w') as f: f.write('1\\n2\\n')\n"
    "with open('i', 'rb', 0) as f: f.readline(); print(s.run(['cat'], stdin=f, capture_output=True)"
    ".stdout)": "b'2\\n'\n",
    "import subprocess as s\nopen('t', 'w').write('echo hi'); import os; os.chmod('t', 0o755)\n"
    "try: s.run(['./t'])\nexcept OSError as e: print(e)": ("[Errno 8] Exec format error: './t'\n"),
    "import os\nr, w = os.pipe(); os.write(w, b'p'); os.close(w); print(os.read(r, 9), os.read(r, 9))": (
        "b'p' b''\n"
    ),
    "import os, select\nr, w = os.pipe(); print(select.select([r], [w], [], 0)[0])\n"
    "os.write(w, b'p'); print(select.select([r], [], [], 9)[0] == [r])\nos.set_blocking(r, False)\n"
    "os.read(r, 1)\ntry: os.read(r, 1)\nexcept BlockingIOError as e: print(e)": (
        "[]\nTrue\n[Errno 11] Resource temporarily unavailable\n"
    ),
    "import os\np = os.spawnvp(os.P_NOWAIT, 'sh', ['sh', '-c', 'exit 3'])\n"
    "print(os.waitpid(p, 0)[1])\ntry: os.wait()\nexcept ChildProcessError as e: print(e)": (
        "768\n[Errno 10] No child processes\n"
    ),
    "import asyncio as a\nasync def f():\n  p = await a.create_subprocess_exec('cat', stdin=-1, "
    "stdout=-1)\n  p.stdin.write(b'1\\n'); print(await p.stdout.readline())\n  "
    "print(await p.communicate(b'2'))\n  p = await a.create_subprocess_exec('sleep', '9')\n  "
    "try: await a.wait_for(p.wait(), 0.05)\n  except TimeoutError: p.kill(); print(await p.wait())\n"
    "a.run(f())": "b'1\\n'\n(b'2', None)\n-9\n",
    "import os\nprint(os.system('exit 3') >> 8, os.popen('echo p').read())": "3 p\n\n",
    "import os, signal\nsignal.signal(10, lambda n, f: print('got', n))\nos.kill(os.getpid(), 10)": (
        "got 10\n"
    ),
    "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'raise SystemExit(4)']))": (
        "CompletedProcess(args=['/usr/bin/python3', '-c', 'raise SystemExit(4)'], returncode=4)\n"
    ),
    "import signal, time\ndef late(*a): raise TimeoutError('late')\n"
    "signal.signal(signal.SIGALRM, late)\ndef spin():\n  while True: pass\n"
    "for f in (spin, lambda: time.sleep(9), lambda: __import__('subprocess').run(['sleep', '9'])):\n"
    "  signal.setitimer(signal.ITIMER_REAL, 0.05)\n  try: f()\n  except TimeoutError as e: print(e)\n"
    "signal.alarm(9); print(signal.alarm(0))": "late\nlate\nlate\n9\n",
    "import os\ntry: os.fork()\nexcept NotImplementedError as e: print(str(e)[:24])": (
        "os.fork is not available\n"
    ),
}


@pytest.mark.parametrize("script", PROCESSES)
def test_processes(sandbox: Sandbox, script: str) -> None:
    assert run(sandbox, script) == (PROCESSES[script], "", 0)


def test_a_child_that_nobody_waits_for_runs_at_the_end(sandbox: Sandbox) -> None:
    run(sandbox, "import subprocess\nsubprocess.Popen(['touch', '/tmp/late'])")
    assert sandbox.fs.is_file("/tmp/late")


THREADS = {
    "import threading\nt = threading.Thread(target=print, args=(1,))\nt.start()\nt.join()": "1\n",
    "import queue, threading\nq = queue.Queue(1)\ndef work():\n"
    "    while (x := q.get()) is not None: print(x)\nt = threading.Thread(target=work)\nt.start()\n"
    "for x in (1, 2, None): q.put(x)\nt.join()": "1\n2\n",
    "import threading\ne = threading.Event()\nt = threading.Thread(target=lambda: print(e.wait()))\n"
    "t.start()\ne.set()": "True\n",
    "import threading\nlock = threading.Lock()\nlock.acquire()\ntry: lock.acquire()\n"
    "except RuntimeError as e: print(str(e)[:26])": "this wait would never end:\n",
    "from concurrent.futures import ThreadPoolExecutor as P\nwith P() as p: print(*p.map(abs, [-1, 2]))": (
        "1 2\n"
    ),
    "import asyncio\nasync def f(n):\n    await asyncio.sleep(n / 100)\n    return n\n"
    "async def main(): print(await asyncio.gather(f(2), f(1), asyncio.to_thread(abs, -3)))\n"
    "asyncio.run(main())": "[2, 1, 3]\n",
    "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_shell('echo x', stdout=-1)\n"
    "    print(await p.communicate())\nasyncio.run(main())": "(b'x\\n', None)\n",
    "import multiprocessing\ntry: multiprocessing.RawArray('i', 3)\n"
    "except NotImplementedError as e: print(str(e)[:41])": "multiprocessing.RawArray is not available\n",
    "import multiprocessing as m\nprint(m.Pool().map(abs, [-1, 2]), m.cpu_count())": "[1, 2] 1\n",
    "import threading, time\ndef f():\n  for i in 'ab': print(i); time.sleep(0.01)\n"
    "t = threading.Thread(target=f)\nt.start()\nprint('main', t.is_alive(), threading.active_count())\n"
    "t.join()\nprint(t.is_alive())": "a\nmain True 2\nb\nFalse\n",
    "import threading, time\nt = [threading.Timer(n / 50, print, [n]) for n in (3, 1, 2)]\n"
    "for x in t: x.start()\nt[2].cancel()\ntime.sleep(0.2)\nprint('main')": "1\n3\nmain\n",
    "import threading, time\ndone = False\ndef f():\n  while not done: pass\n  print('seen')\n"
    "t = threading.Thread(target=f)\nt.start()\ndone = True\nt.join()": "seen\n",
    "import threading\nclass C:\n  def __init__(self): self.__n = 2\n  def f(self, *, k=3):\n"
    "    while self.__n: self.__n -= 1\n    print('k', k, threading.current_thread().name)\n"
    "t = threading.Thread(target=C().f, kwargs={'k': 4}, name='T')\nt.start()\nt.join()": "k 4 T\n",
}


@pytest.mark.parametrize("script", THREADS)
def test_threads(sandbox: Sandbox, script: str) -> None:
    assert run(sandbox, script) == (THREADS[script], "", 0)


ERRORS = {
    "open('/nope')": "FileNotFoundError: [Errno 2] No such file or directory: '/nope'",
    "import os; os.mkdir('/tmp/a/b')": (
        "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/a/b'"
    ),
    "import os; os.listdir('/etc/passwd')": "NotADirectoryError: [Errno 20] Not a directory: '/etc/passwd'",
    "open('/tmp')": "IsADirectoryError: [Errno 21] Is a directory: '/tmp'",
    "import errno; raise OSError(errno.EEXIST, 'mine')": "FileExistsError: [Errno 17] mine",
    "import math; math.exp(1000)": "OverflowError: math range error",
    "2.0 ** 5000": "OverflowError: (34, 'Numerical result out of range')",
    "import urllib.request as u; u.urlopen('http://host/')": (
        "urllib.error.URLError: <urlopen error [Errno -3] "
        "the network is not available in this sandbox's Python>"
    ),
}


@pytest.mark.parametrize("script", ERRORS)
def test_errors(sandbox: Sandbox, script: str) -> None:
    out, err, status = run(sandbox, script)
    assert (out, err.splitlines()[-1], status) == ("", ERRORS[script], 1)
    assert "agentsandbox" not in err


def test_errors_in_handlers_have_the_numbers_of_linux(sandbox: Sandbox) -> None:
    script = """
import errno
try:
    open("/nope")
except OSError as error:
    first = error
print(first.errno == errno.ENOENT == 2, first.args, first.strerror)
try:
    raise first
except OSError as error:
    print(error.errno, error.__traceback__.tb_next is not None)
def custom(): raise OSError(28, "of the script")
try:
    custom()
except OSError as error:
    print(error)
"""
    out, err, status = run(sandbox, script)
    assert (err, status) == ("", 0)
    assert out == (
        "True (2, 'No such file or directory') No such file or directory\n"
        "2 True\n"
        "[Errno 28] of the script\n"
    )


def test_permissions(sandbox: Sandbox) -> None:
    script = """
import os, stat, tempfile
fd, name = tempfile.mkstemp()
print(oct(os.fstat(fd).st_mode), oct(os.stat(tempfile.mkdtemp()).st_mode))
os.chmod(name, 0o751)
print(oct(os.stat(name).st_mode & 0o7777), os.access(name, os.X_OK), os.stat(name).st_uid)
before = os.umask(0o077)
open("/tmp/private", "w").close()
print(oct(before), oct(os.stat("/tmp/private").st_mode), os.umask(before) == 0o077)
with os.scandir("/tmp") as entries:
    print([oct(e.stat().st_mode) for e in entries if e.name == "private"])
"""
    out, err, status = run(sandbox, script)
    assert (err, status) == ("", 0)
    assert out == ("0o100600 0o40700\n0o751 True 1000\n0o22 0o100600 True\n['0o100600']\n")


def test_a_virtual_environment(sandbox: Sandbox) -> None:
    script = """
python3 -m venv /tmp/env && . /tmp/env/bin/activate
python3 -c 'import sys; print(sys.prefix, sys.base_prefix, sys.executable, sys.path[-1][:12])'
"""
    result = sandbox.execute(script)
    assert result.stderr == ""
    assert result.stdout == "/tmp/env /usr /tmp/env/bin/python3 /tmp/env/lib\n"


def test_names_of_the_prelude_are_not_visible(sandbox: Sandbox) -> None:
    script = """
import inspect, traceback
print(sorted(name for name in globals() if name not in ("inspect", "traceback")))
print([frame.function for frame in inspect.stack()])
traceback.print_stack()
"""
    out, err, _ = run(sandbox, script)
    assert out == (
        "['__builtins__', '__doc__', '__file__', '__loader__', '__name__', '__package__', "
        "'__spec__']\n['<module>']\n"
    )
    assert err.count("File ") == 1
