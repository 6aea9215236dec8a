"""The command line of `python3`, read as CPython's getopt reads it."""

from _agentsandbox.launching import Options

__all__ = ["UsageError", "parse"]

FLAGS = frozenset("bBdEhiIOPqRsSuvVx?")
WITH_ARGUMENT = frozenset("cmWX")

# Options of CPython that need the interpreter's own start, and what to do instead.
REFUSED = {
    "b": "comparisons of bytes and str cannot be watched after the start",
    "v": "imports cannot be traced after the start; list sys.modules at the end",
    "--check-hash-based-pycs": "leave it out: source files are always compared with their bytecode",
    "--help-env": "use -h",
    "--help-xoptions": "use -h",
    "--help-all": "use -h",
    "-X importtime": "use time.perf_counter() around the imports",
    "-X dev": "use -W default",
    "-X perf": "use cProfile",
    "-X perf_jit": "use cProfile",
    "-X showrefcount": "leave it out",
    "-X no_debug_ranges": "leave it out",
    "-X warn_default_encoding": "leave it out",
    "-X presite": "leave it out",
    "-X faulthandler": "leave it out: there are no signals here",
    "-X lazy_imports": "leave it out",
    "-X context_aware_warnings": "leave it out",
    "-X thread_inherit_context": "leave it out",
}

USAGE = "usage: {} [option] ... [-c cmd | -m mod | file | -] [arg] ...\n"
TRY = "Try `python -h' for more information.\n"

HELP = """\
Options (and corresponding environment variables):
-B     : write no .pyc files (PYTHONDONTWRITEBYTECODE)
-c cmd : run cmd; what follows are arguments of the program
-d     : accepted; it shows something in debug builds only
-E     : ignore the PYTHON* variables
-h     : print this text (also -? or --help)
-i     : after the script, go on with standard input
-I     : isolate Python from the user's environment (means -E, -P and -s)
-m mod : run the module mod; what follows are arguments of the program
-O     : remove assert statements and code under __debug__; .opt-1 in names of .pyc files
-OO    : the same, and remove docstrings; .opt-2 in names of .pyc files
-P     : do not put an unsafe path in front of sys.path (PYTHONSAFEPATH)
-q     : print no version and copyright when interactive
-R     : accepted; hashes are the same in every run here
-s     : leave the user's site-packages out of sys.path (PYTHONNOUSERSITE)
-S     : leave all site-packages out of sys.path
-u     : do not buffer stdout and stderr (PYTHONUNBUFFERED)
-V     : print the version (also --version; -VV says more)
-W arg : control warnings: action:message:category:module:lineno (PYTHONWARNINGS)
-x     : skip the first line of the source
-X opt : set an implementation option: utf8, int_max_str_digits=N, pycache_prefix=DIR, tracemalloc
file   : run the script in this file
-      : run the script in standard input
arg ...: arguments of the program, in sys.argv[1:]

Other variables: PYTHONPATH, PYTHONOPTIMIZE, PYTHONIOENCODING, PYTHONPYCACHEPREFIX.
-b, -v, --check-hash-based-pycs and -X importtime or dev are refused.
"""


class UsageError(Exception):
    """The command line is wrong; the argument is the whole text for stderr."""


def parse(words, argv0):
    """Return the `Options` of the words after the program's name."""
    options = Options()
    index = 0
    while index < len(words):
        word = words[index]
        if word == "-" or not word.startswith("-"):
            break
        index += 1
        if word == "--":
            break
        if word.startswith("--"):
            read_long(options, word, argv0)
        elif (index := read_cluster(options, words, index, argv0)) < 0:
            return options
    if options.has("V"):
        options.kind = "version"
    elif options.has("h") or options.has("?"):
        options.kind = "help"
    elif index < len(words):
        target = words[index]
        options.kind = "stdin" if target == "-" else "file"
        options.target, options.rest = target, words[index + 1 :]
    return options


def read_long(options, word, argv0):
    """Take one word that begins with "--"."""
    if word == "--help":
        options.counts["h"] = 1
    elif word == "--version":
        options.counts["V"] = options.has("V") + 1
    elif word in REFUSED:
        refuse(word, argv0)
    else:
        raise UsageError(f"unknown option {word}\n" + USAGE.format(argv0) + TRY)


def read_cluster(options, words, index, argv0):
    """Take the letters of words[index - 1]; return the next index, or -1 after -c and -m."""
    word = words[index - 1]
    for place, letter in enumerate(word[1:], 2):
        if letter in WITH_ARGUMENT:
            argument = word[place:]
            if not argument:
                if index >= len(words):
                    text = f"Argument expected for the -{letter} option\n"
                    raise UsageError(text + USAGE.format(argv0) + TRY)
                argument, index = words[index], index + 1
            if letter in "cm":
                if options.has("V") or options.has("h") or options.has("?"):
                    options.kind = "version" if options.has("V") else "help"
                    return -1
                options.kind, options.target, options.rest = letter, argument, words[index:]
                return -1
            take_argument(options, letter, argument, argv0)
            return index
        if letter not in FLAGS:
            raise UsageError(f"Unknown option: -{letter}\n" + USAGE.format(argv0) + TRY)
        if letter in REFUSED:
            refuse("-" + letter, argv0)
        options.counts[letter] = options.has(letter) + 1
    return index


def take_argument(options, letter, argument, argv0):
    """Keep the argument of -W or -X."""
    if letter == "W":
        options.warnings.append(argument)
        return
    name, equals, value = argument.partition("=")
    if "-X " + name in REFUSED:
        refuse("-X " + name, argv0)
    options.x[name] = value if equals else True


def refuse(option, argv0):
    """Raise the error of an option that CPython has and this Python has not."""
    why = REFUSED.get(option) or REFUSED[option.lstrip("-")]
    raise UsageError(f"{argv0}: the option {option} is not available in the sandbox: {why}\n")
