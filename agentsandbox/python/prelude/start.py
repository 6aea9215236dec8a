"""The first Python code of every `python3` in the sandbox; it runs inside the guest.

The guest is CPython 3.15 for WASI, started from a snapshot: the interpreter is initialised, some
seventy modules are imported, and the options of the command line are still unread. The host calls
this file with the words after `python3` in `sys.argv[1:]`. What runs, in this order:

1. `begin` asks the host through the *door* (`_host.call`) for what a process inherits and WASI
   does not have: working directory, umask, ids, terminal flags. One question, one answer.
2. `Finder` goes to the front of `sys.meta_path`. It costs one dictionary look-up per import and
   knows three kinds of names: `_agentsandbox.X` (the parts of this prelude), `PATCHED` (modules of
   the standard library that need a change after they were loaded, see `patches/`) and, from the
   end of the path, `SHIMS` (modules that WASI has not, see `modules/`). So nothing of
   `subprocess`, `threading` or `socket` is loaded before a script asks for it, and a script's own
   `socket.py` beside it still wins.
3. `files.install` replaces the functions of `os` that WASI gets wrong or has not; `watch_errors`
   makes the numbers of `OSError` those of Linux (`errors.py`, loaded with the first of them).
4. `options.parse` reads the command line as CPython's getopt does, `apply` sets `sys.flags`,
   `sys.path`, the streams and the warnings.
5. A fresh `__main__` takes the place of this file, and `run` executes the script. Frames of the
   prelude at the top of a traceback are cut off, so that `sys.excepthook` shows the script's own.
6. `finish` does what `Py_FinalizeEx` does and a script can see: atexit, `__del__` of what the
   script's modules hold, open files, the standard streams (status 120 when they cannot be
   flushed). Then `os._exit`, because the rest of `Py_FinalizeEx` costs more than most scripts.
"""

import marshal
import os
import posix
import sys

import _host

HERE, SUFFIX = os.path.dirname(sys.argv[0]), os.path.splitext(sys.argv[0])[1]
OWN_CODE = os.path.dirname(sys._getframe().f_code.co_filename)
LONGEST = 1 << 20
FAMILIES = (OSError, OverflowError)
TOOL = 4
STDLIB = "/usr/local/lib/python315.zip"
SITE = "lib/python3.15/site-packages"

PATCHED = frozenset(
    """
    asyncio concurrent.futures.process concurrent.futures.thread errno hashlib inspect locale
    multiprocessing platform queue select selectors signal socket socketserver
    subprocess sysconfig threading traceback
    """.split()
)
REPLACED = frozenset(["ssl"])
SHIMS = frozenset(
    "_posixsubprocess ensurepip fcntl grp pip pwd readline resource syslog termios venv".split()
)


class Door:
    """The questions to the host: a JSON header with its length before it, then raw bytes."""

    def __init__(self):
        from json import JSONDecoder, JSONEncoder

        self._encode = JSONEncoder(separators=(",", ":")).encode
        self._decode = JSONDecoder().decode

    def ask(self, op, payload=b"", **fields):
        """Return (answer, payload) of one question; the answer may hold `errno`."""
        header = self._encode({"op": op, **fields}).encode("ascii")
        reply = _host.call(len(header).to_bytes(4, "little") + header + payload)
        end = 4 + int.from_bytes(reply[:4], "little")
        return self._decode(reply[4:end].decode("utf-8", "surrogateescape")), reply[end:]

    def demand(self, op, path=None, **fields):
        """Return the answer of one question about `path`, or raise its OSError."""
        if path is not None:
            fields["path"] = path
        answer, _ = self.ask(op, **fields)
        if number := answer.get("errno"):
            from _agentsandbox import errors

            raise errors.error(number, path)
        return answer


class Process:
    """What this process inherited, and what the command line said about it."""

    def __init__(self, begun):
        self.cwd = begun["cwd"]
        self.umask = begun["umask"]
        self.argv0 = begun["argv0"]
        self.executable = begun["executable"]
        self.uid = begun["uid"]
        self.gid = begun["gid"]
        self.user = begun["user"]
        self.home = begun["home"]
        self.columns = begun.get("columns") or 80
        self.hostname = begun["hostname"]
        self.pid = begun["pid"]
        self.ppid = begun["ppid"]
        self.isatty = begun["isatty"]
        self.prefix = begun.get("prefix")


class Finder:
    """Find parts of the prelude, patch modules of the standard library, and supply shims."""

    def __init__(self):
        self._at_work = set()

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a part or of a module to patch, else None."""
        if name.startswith("_agentsandbox."):
            return part_spec(name, name[14:].replace(".", "/"))
        if (name not in PATCHED and name not in REPLACED) or name in self._at_work:
            return None
        self._at_work.add(name)
        try:
            spec = None
            for finder in sys.meta_path:
                if finder is not self and (spec := finder.find_spec(name, path, target)):
                    break
        finally:
            self._at_work.discard(name)
        if spec is not None and (spec.origin or "").startswith((STDLIB, "built-in")):
            if name in REPLACED:
                return part_spec(name, "modules/" + name)
            spec.loader = PatchingLoader(spec.loader)
        return spec


class Shims:
    """The last finder: modules that a build for WASI does not have."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a shim, else None."""
        top, _, rest = name.partition(".")
        if top not in SHIMS or (rest and rest != "__main__"):
            return None
        return part_spec(name, "modules/" + (top if not rest else top + "_main"))


class PatchingLoader:
    """Load a module with its own loader, then let `patches.NAME.apply` change it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        """Make the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module):
        """Execute the module, then its patch."""
        self._loader.exec_module(module)
        module.__loader__ = module.__spec__.loader = self._loader
        patch = "_agentsandbox.patches." + module.__name__.replace(".", "_")
        __import__(patch)
        sys.modules[patch].apply(module)


class PartLoader:
    """Load one file of the prelude: its bytecode, or its source where the host made none."""

    def __init__(self, file):
        self._file = file

    @staticmethod
    def create_module(spec):
        """Leave the making of the module to the import system."""
        return

    def exec_module(self, module):
        """Execute the file."""
        exec(code_of(self._file), module.__dict__)

    def get_code(self, name):
        """Return the code of the file, for `runpy`."""
        return code_of(self._file)

    @staticmethod
    def get_source(name):
        """Return None: a script sees no source of the prelude."""
        return


def code_of(file):
    """Return the code object of a file of the prelude."""
    fd = posix.open(file, posix.O_RDONLY)
    data = posix.read(fd, LONGEST)
    posix.close(fd)
    if SUFFIX == ".pyc":
        return marshal.loads(memoryview(data)[16:])
    return compile(data, file, "exec", dont_inherit=True)


def load(name):
    """Import a part that every start needs, without the import system."""
    full = "_agentsandbox." + name
    module = sys.modules[full] = type(sys)(full)
    exec(code_of(f"{HERE}/{name}{SUFFIX}"), module.__dict__)
    setattr(sys.modules["_agentsandbox"], name, module)
    return module


def part_spec(name, file):
    """Return the spec of the prelude's file `file` (without ".pyc") under the name `name`."""
    from _frozen_importlib import ModuleSpec

    where = f"{HERE}/{file}{SUFFIX}"
    spec = ModuleSpec(name, PartLoader(where), origin=where, is_package=name in PACKAGES)
    if name in PACKAGES:
        spec.submodule_search_locations = []
    return spec


PACKAGES = frozenset(["_agentsandbox.patches", "venv", "pip", "ensurepip"])


def install_finders():
    """Make the parts importable and put the finders around those of CPython."""
    module = type(sys)
    for name in ("_agentsandbox", "_agentsandbox.patches"):
        package = module(name)
        package.__path__ = []
        sys.modules[name] = package
    sys.modules["_agentsandbox"].patches = sys.modules["_agentsandbox.patches"]
    sys.modules.pop("errno", None)  # loaded again, and patched, when a script asks for it
    sys.meta_path.insert(0, Finder())
    sys.meta_path.append(Shims)


def begin():
    """Ask the host how this process begins; share the door and the answer with the other parts."""
    install_finders()
    here = sys.modules["_agentsandbox"]
    here.door = door = Door()
    here.process = process = Process(door.ask("begin")[0])
    here.start = sys.modules["__main__"]
    here.OWN_CODE = OWN_CODE
    sys.modules["_agentsandbox.start"] = here.start
    return process


def watch_errors():
    """Translate the errors of C code that meet a handler of the script (see `errors.py`)."""
    monitoring = sys.monitoring
    handled = monitoring.events.EXCEPTION_HANDLED

    def meet(code, offset, exc):
        if isinstance(exc, FAMILIES) and not code.co_filename.startswith(OWN_CODE):
            from _agentsandbox import errors

            errors.meet(exc)

    def report_unraisable(unraisable):
        """Print an exception that nothing can handle."""
        from _agentsandbox import errors

        errors.strip_all(unraisable.exc_value)
        sys.__unraisablehook__(unraisable)

    monitoring.use_tool_id(TOOL, "errno")
    monitoring.register_callback(TOOL, handled, meet)
    monitoring.set_events(TOOL, handled)
    sys.unraisablehook = report_unraisable


def main():
    """Run one `python3` from its first question to its exit status."""
    words = sys.argv[1:]
    process = begin()
    load("files").install(process)
    watch_errors()
    load("launching").launch(process, words)


main()
