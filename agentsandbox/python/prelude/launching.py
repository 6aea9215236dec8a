"""Run what the command line names, and end the process as CPython does.

`launch` never returns: every way out is `os._exit`. The script's code is compiled and executed from
here, so the first frames of a traceback belong to the prelude; `errors.strip_all` takes them off.
"""

import os
import sys

from _agentsandbox import start

FLUSH_FAILED = 120
EXECUTABLE = "/usr/bin/python3"


def launch(process, words):
    """Parse the words after the program's name, run the script and leave."""
    options = simple_options(words) or parsed_options(words, process)
    if options.kind in ("version", "help"):
        leave(tell(options, process))
    if os.environ.get("PYTHONTZPATH") == "":
        del os.environ["PYTHONTZPATH"]  # set for the start of the guest, not for the script
    known = set(sys.modules)
    main = fresh_main()
    apply(options, process, words)
    raise_recursion_limit()
    status = execute(options, process, main)
    if options.has("i") and options.kind != "stdin":
        status = converse(main, quiet=True)
    leave(finish(status, known))


class Options:
    """What a command line says; `kind` is one of c, m, file, stdin, version, help."""

    __slots__ = ("counts", "kind", "rest", "target", "warnings", "x")

    def __init__(self, kind="stdin", target=None, rest=()):
        self.kind = kind
        self.target = target
        self.rest = list(rest)
        self.counts = {}
        self.warnings = []
        self.x = {}

    def has(self, letter):
        """How many times the flag was given."""
        return self.counts.get(letter, 0)


def simple_options(words):
    """Return the `Options` of a command line without flags, which are most, else None."""
    if not words:
        return Options()
    if words[0] in ("-c", "-m") and len(words) > 1:
        return Options(words[0][1], words[1], words[2:])
    if not words[0].startswith("-"):
        return Options("file", words[0], words[1:])
    return None


def parsed_options(words, process):
    """Return the `Options` of any command line; print what is wrong with it, and leave."""
    from _agentsandbox.options import UsageError, parse

    try:
        return parse(words, process.argv0)
    except UsageError as error:
        sys.stderr.write(str(error))
        sys.stderr.flush()
        os._exit(1 if "not available" in str(error) else 2)


def raise_recursion_limit():
    """Let a script recurse as deep as in CPython, where no frames are below its first one."""
    get, set_ = sys.getrecursionlimit, sys.setrecursionlimit
    below, frame = 2, sys._getframe()  # `execute` and the function that it calls come on top
    while (frame := frame.f_back) is not None:
        below += 1

    def getrecursionlimit():
        """Return the current value of the recursion limit."""
        return get() - below

    def setrecursionlimit(limit, /):
        """Set the maximum depth of the Python interpreter stack to `limit`."""
        if limit < 1:
            raise ValueError("recursion limit must be greater or equal than 1")
        set_(limit + below)

    setrecursionlimit(get())
    sys.getrecursionlimit, sys.setrecursionlimit = getrecursionlimit, setrecursionlimit


def tell(options, process):
    """Print the version or the help text; return the status."""
    if options.kind == "version":
        line = "Python " + (sys.version if options.has("V") > 1 else sys.version.split()[0])
        print(line)
    else:
        from _agentsandbox.options import HELP, USAGE

        print(USAGE.format(process.argv0) + HELP, end="")
    return finish(0, set(sys.modules))


def fresh_main():
    """Put an empty `__main__` into sys.modules and return it."""
    import builtins
    from _frozen_importlib import BuiltinImporter

    main = type(sys)("__main__")
    main.__loader__ = BuiltinImporter
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    return main


# --- what the options and variables change -------------------------------------------------


def apply(options, process, words):
    """Set flags, paths, streams and warnings as the options and PYTHON* variables say."""
    isolated = bool(options.has("I"))
    ignore = isolated or bool(options.has("E"))
    variables = {} if ignore else os.environ
    optimize = max(options.has("O"), number(variables.get("PYTHONOPTIMIZE")))
    no_bytecode = bool(options.has("B") or variables.get("PYTHONDONTWRITEBYTECODE"))
    no_user = isolated or bool(options.has("s") or variables.get("PYTHONNOUSERSITE"))
    safe = isolated or bool(options.has("P") or variables.get("PYTHONSAFEPATH"))
    unbuffered = bool(options.has("u") or variables.get("PYTHONUNBUFFERED"))
    sys.flags = sys.flags.__replace__(
        inspect=int(bool(options.has("i"))),
        interactive=options.has("i"),
        optimize=optimize,
        dont_write_bytecode=int(no_bytecode),
        no_user_site=int(no_user),
        no_site=int(bool(options.has("S"))),
        ignore_environment=int(ignore),
        isolated=int(isolated),
        quiet=options.has("q"),
        debug=options.has("d"),
        safe_path=safe,
    )
    sys.dont_write_bytecode = no_bytecode
    sys.orig_argv = [process.argv0, *words]
    sys.executable = sys._base_executable = process.executable
    sys.platform = "linux"
    set_streams(process, unbuffered, variables.get("PYTHONIOENCODING"))
    if optimize:
        compile_optimized(optimize)
    set_x(options, variables)
    set_paths(options, process, variables, no_user)
    set_warnings(options.warnings, variables.get("PYTHONWARNINGS"))


def number(text):
    """Return the level that a variable such as PYTHONOPTIMIZE asks for."""
    if not text:
        return 0
    return int(text) if text.isdecimal() else 1


def set_streams(process, unbuffered, ioencoding):
    """Buffer the standard streams as CPython does, and set their encoding."""
    if unbuffered:
        from io import FileIO, TextIOWrapper

        for name, fd in (("stdout", 1), ("stderr", 2)):
            old = getattr(sys, name)
            new = TextIOWrapper(
                FileIO(fd, "w", closefd=False), old.encoding, old.errors, write_through=True
            )
            new.buffer.name = new.mode = f"<{name}>"
            new.mode = "w"
            setattr(sys, name, new)
            setattr(sys, f"__{name}__", new)
    elif process.isatty[1]:
        sys.stdout.reconfigure(line_buffering=True)
    if ioencoding:
        encoding, _, errors = ioencoding.partition(":")
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            kept = stream.errors if stream is sys.stderr or not errors else errors
            stream.reconfigure(encoding=encoding or stream.encoding, errors=kept)


def compile_optimized(level):
    """Let imported source files be compiled as under -O and -OO."""
    from _frozen_importlib_external import SourceLoader

    original = SourceLoader.source_to_code

    def source_to_code(self, source, path, *rest, _optimize=-1, **more):
        if _optimize == -1:
            _optimize = level
        return original(self, source, path, *rest, _optimize=_optimize, **more)

    SourceLoader.source_to_code = source_to_code


def set_x(options, variables):
    """Carry out the -X options that can be carried out."""
    sys._xoptions.update(options.x)
    prefix = options.x.get("pycache_prefix") or variables.get("PYTHONPYCACHEPREFIX")
    if prefix and prefix is not True:
        sys.pycache_prefix = prefix
    if (digits := options.x.get("int_max_str_digits")) not in (None, True):
        sys.set_int_max_str_digits(int(digits))
    if frames := options.x.get("tracemalloc"):
        import tracemalloc

        tracemalloc.start(1 if frames is True else int(frames))


def set_warnings(given, variable):
    """Set sys.warnoptions, variables before options, and let `warnings` read them."""
    texts = [text for text in (variable or "").split(",") if text] + given
    if texts:
        sys.warnoptions[:] = texts
        import warnings

        warnings._processoptions(sys.warnoptions)


def set_paths(options, process, variables, no_user):
    """Build sys.path behind its first entry: PYTHONPATH, standard library, site-packages."""
    extra = variables.get("PYTHONPATH", "")
    paths = [os.path.abspath(p) for p in extra.split(":")] if extra else []
    sys.path[:] = [*paths, start.STDLIB]
    if options.has("S"):
        return
    prefix = environment_of(process)
    sys.prefix = sys.exec_prefix = prefix or "/usr"
    sys.base_prefix = sys.base_exec_prefix = "/usr"
    folders = [f"{prefix}/{start.SITE}"] if prefix else []
    if not no_user and prefix is None:
        folders.append(f"{process.home}/.local/{start.SITE}")
    folders.append(f"/usr/local/{start.SITE}")
    for folder in folders:
        add_site(folder)


def executable_of(process):
    """Return the path that this Python was called by, as CPython finds it."""
    name = process.argv0
    if "/" in name:
        return os.path.abspath(name)
    if "VIRTUAL_ENV" in os.environ and process.executable == EXECUTABLE:
        for folder in os.environ.get("PATH", "").split(":"):
            if folder and os.access(f"{folder}/{name}", os.X_OK):
                return os.path.abspath(f"{folder}/{name}")
    return process.executable


def environment_of(process):
    """Return the folder of the virtual environment that `sys.executable` belongs to, or None."""
    process.executable = sys.executable = sys._base_executable = executable_of(process)
    folder = process.executable.rpartition("/")[0]
    parent = folder.rpartition("/")[0]
    if folder in ("/usr/bin", "/bin", "/usr/local/bin", ""):
        return None
    for place in (parent, folder):
        if os.path.isfile(place + "/pyvenv.cfg"):
            return place
    return None


def add_site(folder):
    """Add a site-packages folder, and what its .pth files name, if it exists."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    sys.path.append(folder)
    if any(name.endswith(".pth") for name in names):
        import site

        site.addsitedir(folder)


# --- running -------------------------------------------------------------------------------


def execute(options, process, main):
    """Run the script of the command line in `main`; return the exit status."""
    kind = options.kind
    sys.argv[:] = [{"c": "-c", "m": "-m", "stdin": options.target or ""}.get(kind, options.target)]
    sys.argv += options.rest
    try:
        if kind == "c":
            put_path(options, "")
            run_text(options.target, "<string>", main, listed=True)
        elif kind == "m":
            run_module(options, process)
        elif kind == "file":
            run_file(options, process, main)
        else:
            put_path(options, "")
            if process.isatty[0] or options.has("i"):
                return converse(main, quiet=bool(options.has("q")))
            run_stdin(main)
    except BaseException as error:
        return report(error)
    return 0


def put_path(options, path):
    """Put `path` in front of sys.path unless -P or -I forbids it."""
    if not sys.flags.safe_path:
        sys.path.insert(0, path)


def run_text(text, name, main, listed=False):
    """Compile and run the text of -c."""
    learn_errors(text.encode("utf-8", "surrogatepass"))
    code = compile(text, name, "exec", dont_inherit=True, optimize=level())
    if listed:
        import linecache

        linecache._register_code(code, text, name)
    exec(code, main.__dict__)


def level():
    """Return the level of -O for `compile`."""
    return sys.flags.optimize


def run_stdin(main):
    """Run standard input as a script; it is read to its end first."""
    source = sys.stdin.buffer.read()
    learn_errors(source)
    main.__file__ = "<stdin>"
    run_code(compile_file(source, "<stdin>"), main)


def learn_errors(source):
    """Let `OSError(2)` pick its subclass by Linux' numbers if the script makes such errors.

    Scripts that import `errno` get that anyway (`patches/errno.py`); it costs a millisecond.
    """
    if (b"OSError(" in source or b"IOError(" in source) and "errno" not in sys.modules:
        import errno  # noqa: F401


def run_code(code, main):
    """Run the code of a file, then flush the streams; CPython does so, and not for -c and -m."""
    try:
        exec(code, main.__dict__)
    finally:
        flush_streams()


def flush_streams():
    """Flush stdout and stderr, as far as they can be flushed."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # `finish` tries again, and says so


def run_file(options, process, main):
    """Run a file, or the `__main__` of a directory or zip file."""
    path = options.target
    try:
        with open(path, "rb") as file:
            source = file.read()
    except IsADirectoryError:
        return run_container(path, process)
    except OSError as error:
        from _agentsandbox import errors

        errors.translate(error)
        sys.stderr.write(
            f"{process.argv0}: can't open file {os.path.abspath(path)!r}: "
            f"[Errno {error.errno}] {error.strerror}\n"
        )
        raise SystemExit(2) from None
    if is_zip(source):
        return run_container(path, process)
    put_path(options, os.path.dirname(os.path.realpath(path)))
    if options.has("x"):
        source = b"\n" + source.partition(b"\n")[2]
    learn_errors(source)
    full = os.path.abspath(path) if not path.startswith("/") else path
    main.__file__ = full
    loader_of(main, full)
    if path.endswith(".pyc"):
        return run_bytecode(source, main)
    run_code(compile_file(source, full), main)
    return None


def loader_of(main, path):
    """Give `main` the loader that CPython gives a script."""
    import _frozen_importlib_external as external

    kind = external.SourcelessFileLoader if path.endswith(".pyc") else external.SourceFileLoader
    main.__loader__ = kind("__main__", path)


def run_bytecode(source, main):
    """Run the contents of a .pyc file."""
    import marshal
    from importlib.util import MAGIC_NUMBER

    if source[:4] != MAGIC_NUMBER:
        sys.stderr.write("RuntimeError: Bad magic number in .pyc file\n")
        raise SystemExit(1)
    run_code(marshal.loads(source[16:]), main)


def compile_file(source, name):
    """Compile a script's bytes; word bytes that are no text as CPython's tokenizer does."""
    try:
        return compile(source, name, "exec", dont_inherit=True, optimize=level())
    except SyntaxError:
        if (better := not_text(source, name)) is not None:
            raise better from None
        raise


def not_text(source, name):
    """Return the SyntaxError for the first NUL or wrongly encoded byte of a script, or None.

    The tokenizer reads a file line by line: the first line that is wrong counts, and in it the
    encoding before a NUL.
    """
    nul, wrong = source.find(b"\0"), -1
    encoding = declared_encoding(source)
    if encoding is None:
        try:
            source.decode()
        except UnicodeDecodeError as error:
            wrong = error.start
    else:
        try:
            source.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            return SyntaxError(f"encoding problem: {encoding}", (name, 0, 0, None))
    line_of = [source.count(b"\n", 0, place) + 1 if place >= 0 else None for place in (nul, wrong)]
    if wrong >= 0 and (nul < 0 or line_of[1] <= line_of[0]):
        message = (
            f"Non-UTF-8 code starting with '\\x{source[wrong]:02x}' in file {name} on line "
            f"{line_of[1]}, but no encoding declared; "
            "see https://peps.python.org/pep-0263/ for details"
        )
        return SyntaxError(message, (name, line_of[1], 0, None))
    if nul >= 0:
        message = "source code cannot contain null bytes"
        return SyntaxError(message, (name, line_of[0], 0, None))
    return None


def declared_encoding(source):
    """Return the encoding that one of the first two lines declares, or None."""
    import re

    for line in source.split(b"\n", 2)[:2]:
        if found := re.match(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", line):
            return found[1].decode()
        if not re.match(rb"[ \t\f]*(?:[#\r]|$)", line):
            return None
    return None


def is_zip(source):
    """Whether a file ends as a zip file does; a `#!` line and more may be before it."""
    return b"PK\x05\x06" in source[-66000:] and b"PK" in source[:4096]


def run_container(path, process):
    """Run the `__main__` of a directory or of a zip file."""
    import runpy
    from pkgutil import get_importer

    path = os.path.abspath(path)
    sys.path.insert(0, path)
    if get_importer(path) is None or find_main(path) is None:
        sys.stderr.write(f"{process.executable}: can't find '__main__' module in {path!r}\n")
        raise SystemExit(1)
    runpy._run_module_as_main("__main__", False)


def find_main(path):
    """Return the spec of `__main__` in the folder or zip file, or None."""
    from _frozen_importlib_external import PathFinder

    return PathFinder.find_spec("__main__", [path])


def run_module(options, process):
    """Run -m MODULE."""
    import runpy

    put_path(options, os.getcwd())
    runpy._run_module_as_main(options.target, True)


def converse(main, quiet):
    """Read statements from standard input, as CPython does with -i or at a terminal."""
    from code import InteractiveConsole

    class Console(InteractiveConsole):
        def raw_input(self, prompt=""):
            sys.stdout.flush()
            sys.stderr.write(prompt)
            sys.stderr.flush()
            if not (line := sys.stdin.readline()):
                raise EOFError
            return line.removesuffix("\n")

    sys.ps1, sys.ps2 = ">>> ", "... "
    banner = "" if quiet else f"Python {sys.version} on {sys.platform}"
    try:
        Console(main.__dict__, "<stdin>").interact(banner, "")
    except SystemExit as error:
        return report(error)
    return 0


# --- the end -------------------------------------------------------------------------------


def report(error):
    """Print an exception that ended the script; return the exit status."""
    if isinstance(error, SystemExit):
        return status_of(error)
    from _agentsandbox import errors

    errors.strip_all(error)
    trace = error.__traceback__
    sys.last_exc = sys.last_value = error
    sys.last_type, sys.last_traceback = type(error), trace
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as leaving:
        return status_of(leaving)
    except BaseException as second:
        sys.stderr.write("Error in sys.excepthook:\n")
        errors.strip_all(second)
        sys.__excepthook__(type(second), second, second.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def status_of(leaving):
    """Return the status that a SystemExit asks for; print a message that it carries."""
    code = leaving.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 31) <= code < 1 << 31 else 255
    print(code, file=sys.stderr)
    return 1


def finish(status, known):
    """Do what `Py_FinalizeEx` does and a script can see; return the exit status."""
    threading = sys.modules.get("threading")
    import atexit

    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    status = flush_standard(status)
    release_modules(known)
    flush_open_files()
    return flush_standard(status)


def flush_standard(status):
    """Flush stdout and stderr; return FLUSH_FAILED if stdout fails."""
    stream = sys.stdout
    if stream is not None and not getattr(stream, "closed", False):
        try:
            stream.flush()
        except Exception as error:
            from _agentsandbox import errors

            errors.strip_all(error)
            name = type(error).__name__
            try:
                sys.stderr.write(f"Exception ignored while flushing sys.stdout:\n{name}: {error}\n")
            except (OSError, ValueError, AttributeError):
                pass
            sys.stdout = None
            status = FLUSH_FAILED
    try:
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    return status


def release_modules(known):
    """Drop what the script and its own modules hold, so that `__del__` runs and files close."""
    sys.last_exc = sys.last_value = sys.last_traceback = None
    names = ["__main__"]
    names += [
        name
        for name, module in sys.modules.items()
        if name not in known and own_module(getattr(module, "__file__", None))
    ]
    for name in names:
        clear(sys.modules[name].__dict__)
    import gc

    gc.collect()


def own_module(file):
    """Whether a module's file is the script's own, not the standard library's or a package's."""
    return bool(file) and not file.startswith("/usr/local/lib/")


def clear(names):
    """Clear a module's namespace in CPython's order: `_x` first, `__builtins__` never."""
    for first in (True, False):
        for name in list(names):
            single = name.startswith("_") and not name.startswith("__")
            if single == first and name != "__builtins__":
                names[name] = None


def flush_open_files():
    """Flush the files that are still open, as their finalizers would."""
    import gc
    from io import BufferedRandom, BufferedWriter, TextIOWrapper

    kinds = (TextIOWrapper, BufferedWriter, BufferedRandom)
    standard = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    still = [thing for thing in gc.get_objects() if isinstance(thing, kinds)]
    for thing in sorted(still, key=lambda thing: not isinstance(thing, TextIOWrapper)):
        if thing not in standard and not thing.closed and thing.writable():
            try:
                thing.flush()
            except (OSError, ValueError):
                pass


def leave(status):
    """End the process without the rest of `Py_FinalizeEx`."""
    os._exit(status)
