# ruff: noqa: E501 - tables of scripts, one a line
"""Attacks by Python programs, and the worker that tries one and says what was wrong with it.

`python -m tests.python.attacks MODE` reads names of attacks and writes what was wrong with each.
MODE is how the host stands: `plain`, `faulthandler` (enabled before the first guest), `late` (after
it), `fork` (each attack in a child), `threads` (in eight threads at once, a sandbox each).
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic, sleep
from typing import Literal

from agentsandbox import Limits, Sandbox

TIMEOUT = 0.5
"""Seconds that an attack may take."""
OVERSHOOT = 0.25
"""Seconds that it may last beyond that."""
CROWDED = 1.0
"""The same for eight at once, which share the processors of a small machine."""
THREADS = 8
MODES = ("plain", "faulthandler", "late", "fork", "threads")

FORK = "import subprocess, sys\nsubprocess.run([sys.executable, __file__])\nwhile True: pass\n"
BOMB = "import os, sys\nos.system('python3 bomb.py & python3 bomb.py')\n"
SELF = "import os\nos.system('python3 self.py')\nos.system('python3 self.py')\n"
FILES = {"fork.py": FORK, "bomb.py": BOMB, "self.py": SELF}

ATTACKS: dict[str, str] = {
    # time
    "loop": "while True: pass",
    "loop that catches": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "loop in finally": "try:\n  1/0\nfinally:\n  while True: pass",
    "loop at exit": "import atexit\ndef f():\n  while True: pass\natexit.register(f)",
    "loop in a destructor": "class A:\n  def __del__(self):\n    while True: pass\nA()",
    "loop in an excepthook": "import sys\ndef f(*a):\n  while True: pass\nsys.excepthook = f\n1/0",
    "loop in C: sum": "sum(range(10**13))",
    "loop in C: deque": "import collections, itertools\ncollections.deque(itertools.repeat(1), 0)",
    "loop in C: in": "import itertools\n-1 in itertools.count()",
    "sleep": "import time\ntime.sleep(60)",
    "sleeps that catch": "import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass",
    "select": "import select\nselect.select([], [], [], 60)",
    "a large power": "10**10**8",
    "a large power, printed": "import sys\nsys.set_int_max_str_digits(0)\nprint(3**10**7)",
    "a large factorial": "import math\nmath.factorial(10**7)",
    "a large integer, read": "import sys\nsys.set_int_max_str_digits(0)\nint('9' * 10**7)",
    "regular expression": "import re\nre.match(r'(a+)+$', 'a' * 50 + 'b')",
    "regular expression, nested": "import re\nre.match(r'(x+x+)+y', 'x' * 60)",
    "regular expression, alternatives": "import re\nre.match(r'(a|a|b)*$', 'a' * 60 + 'c')",
    "SQL without end": "import sqlite3\nsqlite3.connect(':memory:').execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n').fetchall()",
    "asyncio without end": "import asyncio\nasyncio.run(asyncio.sleep(60))",
    "asyncio that spins": "import asyncio\nasync def f():\n  while True: await asyncio.sleep(0)\nasyncio.run(f())",
    "trace function": "import sys\ndef t(*a):\n  while True: pass\nsys.settrace(t)\ndef f(): pass\nf()",
    # memory
    "bytearray": "bytearray(10**10)",
    "bytearray, in range": "x = [bytearray(10**8) for _ in range(100)]",
    "list growth": "x = []\nwhile True: x.append(' ' * 1000 + str(len(x)))",
    "list of lists": "x = []\nwhile True: x = [x, x]",
    "text that doubles": "x = 'x'\nwhile True: x += x",
    "dictionary growth": "x = {}\nwhile True: x[len(x)] = [len(x)]",
    "memory that is caught": "x = []\nwhile True:\n  try: x.append(bytearray(10**7))\n  except MemoryError: pass",
    "repetition": "[0] * 10**9",
    "range to list": "list(range(10**9))",
    "format width": "'{:>9999999999}'.format(1)",
    "zlib bomb": "import zlib\nd = zlib.compress(b'0' * 10**7)\nx = [zlib.decompress(d) for _ in range(10**4)]",
    "cycles": "import gc\ngc.disable()\nwhile True:\n  a = []\n  a.append([a, bytearray(1000)])",
    "read /dev/zero": "open('/dev/zero', 'rb').read()",
    "read /dev/urandom": "open('/dev/urandom', 'rb').read()",
    # output, files, descriptors
    "output": "while True: print('x' * 1000)",
    "output, one large": "print('x' * 10**8)",
    "output, unbuffered": "import os\nwhile True: os.write(1, b'x' * 100000)",
    "error output": "import sys\nwhile True: sys.stderr.write('x' * 1000)",
    "output that catches": "import sys\nwhile True:\n  try: print('x' * 1000)\n  except BaseException: pass",
    "files": "import itertools\nfor i in itertools.count(): open(f'f{i}', 'w').close()",
    "one large file": "f = open('f', 'wb')\nwhile True: f.write(b'x' * 10**6)",
    "a sparse file": "f = open('f', 'wb')\nf.seek(10**12)\nf.write(b'x')\nf.truncate(10**13)",
    "many large files": "import itertools\nfor i in itertools.count():\n  with open(f'f{i}', 'wb') as f: f.write(b'x' * 10**7)",
    "directories, deep": "import os\nwhile True:\n  os.mkdir('d')\n  os.chdir('d')",
    "directories, wide": "import itertools, os\nfor i in itertools.count(): os.mkdir(f'd{i}')",
    "links in a circle": "import os\nos.symlink('b', 'a')\nos.symlink('a', 'b')\nwhile True:\n  try: open('a')\n  except OSError: pass",
    "descriptors": "x = []\nwhile True: x.append(open('/dev/null'))",
    "descriptors that are caught": "x = []\nwhile True:\n  try: x.append(open('f', 'a'))\n  except OSError: pass",
    "wild descriptors": "import os\nfor i in range(10**9):\n  try: os.close(i)\n  except OSError: pass",
    # the stack
    "recursion": "def f(): f()\nf()",
    "recursion without a limit": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "recursion in C": "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n  def __getattr__(self, n): return getattr(self, n + 'x')\nA().a",
    "recursion in repr": "class A:\n  def __repr__(self): return repr(self)\nrepr(A())",
    "a deep list, repr": "x = []\nfor _ in range(10**6): x = [x]\nrepr(x)",
    "a deep list, freed": "x = []\nfor _ in range(10**6): x = [x]\ndel x",
    "a deep list, compared": "x, y = [], []\nfor _ in range(10**6): x, y = [x], [y]\nx == y",
    "json, deep": "import json\njson.loads('[' * 10**6)",
    "json, deep objects": "import json\njson.loads('{\"a\":' * 10**6)",
    "json, written deep": "import json, sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\njson.dumps(x)",
    "pickle, deep": "import pickle, sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**5): x = [x]\npickle.dumps(x)",
    "copy, deep": "import copy, sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\ncopy.deepcopy(x)",
    "source, parentheses": "compile('(' * 10**5 + ')' * 10**5, 'x', 'eval')",
    "source, minus signs": "eval('-' * 10**6 + '1')",
    "source, not": "eval('not ' * 10**6 + '1')",
    "source, sums": "eval('+'.join(['1'] * 10**6))",
    "source, attributes": "compile('a' + '.b' * 10**6, 'x', 'eval')",
    "source, blocks": "exec('\\n'.join(' ' * i + 'if 1:' for i in range(10**4)))",
    "source, f-strings": "eval('f\"{' * 1000 + '}\"' * 1000)",
    "source, ast": "import ast\nx = ast.Constant(1)\nfor _ in range(10**6): x = ast.UnaryOp(ast.USub(), x)\ncompile(ast.fix_missing_locations(ast.Expression(x)), 'x', 'eval')",
    "regular expression, deep": "import re, sys\nsys.setrecursionlimit(10**9)\nre.compile('(' * 10**5 + ')' * 10**5)",
    "exceptions, chained": "e = None\nfor _ in range(10**6):\n  n = ValueError()\n  n.__context__ = e\n  e = n\nraise e",
    "generators, nested": "g = iter([1])\nfor _ in range(10**6): g = (x for x in g)\nnext(g)",
    "iterators, nested": "import itertools\ng = iter([1])\nfor _ in range(10**6): g = itertools.chain(g)\nnext(g)",
    "bytecode by hand": "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'\\xff\\x00' * 100)\nf()",
    # the end of the process, other programs, waiting
    "abort": "import os\nos.abort()",
    "_exit": "import os\nos._exit(3)",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "raise a signal": "import signal\nsignal.raise_signal(signal.SIGSEGV)",
    "faulthandler inside": "import faulthandler\nfaulthandler._sigsegv()",
    "wild memory": "import ctypes\nctypes.string_at(0)",
    "sleep of a child": "import subprocess\nsubprocess.run(['sleep', '60'])",
    "output of a child": "import subprocess\nsubprocess.run(['yes'], capture_output=True)",
    "children without end": "import os\nwhile True: os.system('true')",
    "children that are python3": "import subprocess, sys\nwhile True: subprocess.Popen([sys.executable, __file__])",
    "pipes": "import os\nx = []\nwhile True:\n  try: x.append(os.pipe()); os.write(x[-1][1], b'x' * 60000)\n  except OSError: pass",
    "a pipe that nobody reads": "import os\nr, w = os.pipe()\nwhile True: os.write(w, b'x' * 60000)",
    "a dialogue with nobody": "import subprocess as s\np = s.Popen(['cat'], stdin=s.PIPE, stdout=s.PIPE)\np.stdout.read()",
    "poll without end": "import os, select\nr, w = os.pipe()\nwhile True: select.select([r], [], [], 0)",
    "threads that wait": "import threading\nwhile True: threading.Thread(target=threading.Event().wait).start()",
    "threads that sleep": "import threading, time\ndef f():\n  while True: time.sleep(0)\nfor _ in range(99): threading.Thread(target=f).start()",
    "a thread that is deep": "import threading, time\ndef f():\n  t = threading.Thread(target=f)\n  t.start()\n  t.join()\nf()",
    "processes of multiprocessing": "import multiprocessing, time\ndef f():\n  while True: time.sleep(0.001)\nwhile True: multiprocessing.Process(target=f).start()",
    "children in the background": "import subprocess\nwhile True: subprocess.Popen(['sleep', '60'])",
    "lock": "import threading\nx = threading.Lock()\nx.acquire()\nx.acquire()",
    "event": "import threading\nthreading.Event().wait()",
    "queue": "import queue\nqueue.Queue().get()",
    "barrier": "import threading\nx = threading.Barrier(2)\nthreading.Thread(target=x.wait).start()",
    "thread that loops": "import threading\ndef f():\n  while True: pass\nthreading.Thread(target=f).start()",
    "threads without end": "import threading\nwhile True: threading.Thread(target=len, args=('',)).start()",
    "thread that waits": "import threading\nx = threading.Semaphore(0)\nt = threading.Thread(target=x.acquire, daemon=True)\nt.start()\nt.join()",
    "pool that waits": "from concurrent.futures import ThreadPoolExecutor as P\np = P(1)\np.submit(lambda: p.submit(len, '').result()).result()",
    "input": "while True:\n  try: input()\n  except EOFError: pass",
    "stdin, read": "import sys\nwhile True: sys.stdin.read()",
}

SCRIPTS: dict[str, str] = {
    "python3 starts python3": "python3 fork.py",
    "python3 starts two": "python3 bomb.py",
    "python3 starts two in turn": "python3 self.py",
    "python3 in a pipeline of many": "yes 'import time; time.sleep(60)' | head -n 1 > s.py; " + " | ".join(["python3 s.py"] * 20),
    "python3 in the background": "for i in $(seq 100); do python3 -c 'while True: pass' & done; wait",
    "input from a pipe that says nothing": "sleep 60 | python3 -c 'input()'",
    "output that nobody reads": "python3 -c 'while True: print(1)' | sleep 60",
    "a file without end as script": "python3 /dev/zero",
    "a large source": "python3 -c \"$(printf '%s' 'x = 1;'; head -c 10000000 /dev/zero | tr '\\0' ' ')\"",
    "an argument of ten million characters": "python3 -c 'pass' \"$(head -c 10000000 /dev/zero | tr '\\0' a)\"",
    "a loop of calls": "while :; do python3 -c pass; done",
}  # fmt: skip
ALL = [*ATTACKS, *SCRIPTS]

BACKGROUND = frozenset(("python3 starts two", "python3 in the background"))
"""Attacks whose programs stay in the background, as they do under any shell: tried with jobs that
end with the call that started them, since others share the time of the next call."""
ENDLESS = frozenset(
    "loop|loop that catches|loop in finally|loop at exit|loop in a destructor|sleep|"
    "loop in an excepthook|loop in C: sum|loop in C: deque|loop in C: in|sleeps that catch|select|"
    "a large power|regular expression|SQL without end|asyncio without end|asyncio that spins|"
    "trace function|memory that is caught|links in a circle|sleep of a child|thread that loops|"
    "children without end|input|stdin, read|python3 starts python3|output that nobody reads|"
    "python3 in a pipeline of many|input from a pipe that says nothing|a loop of calls".split("|")
)
"""Attacks that nothing but the time limit ends: that they end by it shows that they were tried."""


def script_of(name: str) -> str:
    return SCRIPTS.get(name, "python3 attack.py")


def try_attack(
    name: str,
    overshoot: float = OVERSHOOT,
    turn: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> list[str]:
    """Run the attack and then, in its turn, an honest script; return what was wrong."""
    files = {**FILES, "attack.py": ATTACKS.get(name, "")}
    problems = []
    limits = Limits(timeout=TIMEOUT)
    jobs: Literal["kill", "detach"] = "kill" if name in BACKGROUND else "detach"
    with Sandbox(python=True, files=files, limits=limits, jobs=jobs) as sandbox:
        began = monotonic()
        try:
            result = sandbox.execute(script_of(name))
        except Exception as error:  # noqa: BLE001 - that none comes out is what is tested
            return [f"raised {type(error).__name__}: {error}"]
        seconds = monotonic() - began
        if seconds > TIMEOUT + overshoot:
            problems.append(f"took {seconds:.2f} s")
        if result.exit_code == 70 or "internal error" in result.stderr:
            problems.append(f"internal error: {result.stderr[-300:]}")
        if "agentsandbox/" in result.stderr.replace("/usr/local/lib/agentsandbox/", ""):
            problems.append(f"shows the host: {result.stderr[-300:]}")
        if name in ENDLESS and result.limit != "timeout" and not refused(result.stderr):
            problems.append(f"ended with {result.exit_code}: {result.stderr[-300:]}")
        with turn():
            problems += use_afterwards(sandbox)
    return problems


def refused(stderr: str) -> bool:
    """Whether Python was refused because the host replaced the handlers of signals."""
    return faulthandler.is_enabled() and "faulthandler" in stderr


def use_afterwards(sandbox: Sandbox) -> list[str]:
    began = monotonic()
    result = sandbox.execute("cd /; echo alive", state="discard")
    if (result.stdout, result.exit_code) != ("alive\n", 0):
        return [f"the next script gave {result.exit_code}: {result.stdout!r} {result.stderr!r}"]
    result = sandbox.execute("cd /; python3 -c 'print(6 * 7)'", state="discard")
    if refused(result.stderr):
        return []
    if (result.stdout, result.exit_code) != ("42\n", 0):
        return [f"the next python3 gave {result.exit_code}: {result.stdout!r} {result.stderr!r}"]
    return [f"afterwards {seconds:.2f} s"] if (seconds := monotonic() - began) > 1.5 else []


def threads_left(before: int) -> list[str]:
    """Return a problem if threads beyond `before` stay (guests of an end may take a moment)."""
    until = monotonic() + 1
    while threading.active_count() > before and monotonic() < until:
        sleep(0.01)
    left = threading.active_count() - before
    return [f"left {left} threads behind"] if left > 0 else []


def try_in_child(name: str) -> list[str]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = [f"raised in the child of {name}"]
        try:
            answer = try_attack(name, CROWDED)  # the child loads the program again
        finally:
            os.write(write, json.dumps(answer).encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        found = stream.read()
    _, status = os.waitpid(child, 0)
    return list(json.loads(found)) if found else [f"the child ended with {status}"]


def try_in_threads(name: str) -> list[str]:
    together, one = threading.Barrier(THREADS), threading.Lock()

    @contextmanager
    def turn() -> Iterator[None]:
        together.wait(TIMEOUT + 10)
        with one:
            yield

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda _: try_attack(name, CROWDED, turn), range(THREADS)))
    return sorted({problem for problems in found for problem in problems})


def warm() -> str:
    """Load the runtime; return why it cannot run, or ""."""
    with Sandbox(python=True) as sandbox:
        result = sandbox.execute("python3 -c pass")
        return "" if result.exit_code == 0 else result.stderr


def main() -> None:
    mode = sys.argv[1]
    if mode == "faulthandler":
        faulthandler.enable()
    problem = warm()
    if mode == "late":
        faulthandler.enable()
    before = threading.active_count() + (mode in ("faulthandler", "late"))
    tries = {"fork": try_in_child, "threads": try_in_threads}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name == "ready?":
            answer = [problem] if problem else []
        else:
            answer = [*tries.get(mode, try_attack)(name), *threads_left(before + 1)]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
