"""Errors with the numbers and texts of Linux.

WASI numbers its errors alphabetically: ENOENT is 44. CPython's C code creates `OSError`s with those
numbers and picks the subclass by them. `install` sets a callback for the moments in which an
exception meets a handler (`except`, `with`, `finally`): an `OSError` that C code raised gets its
Linux number and glibc's text there, before the script's code can look. The callback costs a call
per handled exception, and nothing where none is raised.

* An exception made by a `raise` statement keeps its number: the last instruction of its traceback
  tells the two apart.
* An exception is translated once: its `strerror` is then the very object in `TEXTS`.
* A number of 1000 and more is 1000 plus a Linux number: the host answers so where a WASI number
  means something else on Linux and picks another subclass (EACCES is 2, Linux' ENOENT).

When a script imports `errno`, `patches/errno.py` sets its names to Linux' numbers and teaches
`OSError` to pick its subclass by them.
"""

import sys

from _agentsandbox import OWN_CODE

LINUX = {
    "EPERM": (1, "Operation not permitted"),
    "ENOENT": (2, "No such file or directory"),
    "ESRCH": (3, "No such process"),
    "EINTR": (4, "Interrupted system call"),
    "EIO": (5, "Input/output error"),
    "ENXIO": (6, "No such device or address"),
    "E2BIG": (7, "Argument list too long"),
    "ENOEXEC": (8, "Exec format error"),
    "EBADF": (9, "Bad file descriptor"),
    "ECHILD": (10, "No child processes"),
    "EAGAIN": (11, "Resource temporarily unavailable"),
    "ENOMEM": (12, "Cannot allocate memory"),
    "EACCES": (13, "Permission denied"),
    "EFAULT": (14, "Bad address"),
    "ENOTBLK": (15, "Block device required"),
    "EBUSY": (16, "Device or resource busy"),
    "EEXIST": (17, "File exists"),
    "EXDEV": (18, "Invalid cross-device link"),
    "ENODEV": (19, "No such device"),
    "ENOTDIR": (20, "Not a directory"),
    "EISDIR": (21, "Is a directory"),
    "EINVAL": (22, "Invalid argument"),
    "ENFILE": (23, "Too many open files in system"),
    "EMFILE": (24, "Too many open files"),
    "ENOTTY": (25, "Inappropriate ioctl for device"),
    "ETXTBSY": (26, "Text file busy"),
    "EFBIG": (27, "File too large"),
    "ENOSPC": (28, "No space left on device"),
    "ESPIPE": (29, "Illegal seek"),
    "EROFS": (30, "Read-only file system"),
    "EMLINK": (31, "Too many links"),
    "EPIPE": (32, "Broken pipe"),
    "EDOM": (33, "Numerical argument out of domain"),
    "ERANGE": (34, "Numerical result out of range"),
    "EDEADLK": (35, "Resource deadlock avoided"),
    "ENAMETOOLONG": (36, "File name too long"),
    "ENOLCK": (37, "No locks available"),
    "ENOSYS": (38, "Function not implemented"),
    "ENOTEMPTY": (39, "Directory not empty"),
    "ELOOP": (40, "Too many levels of symbolic links"),
    "ENOMSG": (42, "No message of desired type"),
    "EIDRM": (43, "Identifier removed"),
    "ENODATA": (61, "No data available"),
    "ETIME": (62, "Timer expired"),
    "ENOLINK": (67, "Link has been severed"),
    "EPROTO": (71, "Protocol error"),
    "EMULTIHOP": (72, "Multihop attempted"),
    "EBADMSG": (74, "Bad message"),
    "EOVERFLOW": (75, "Value too large for defined data type"),
    "EILSEQ": (84, "Invalid or incomplete multibyte or wide character"),
    "EUSERS": (87, "Too many users"),
    "ENOTSOCK": (88, "Socket operation on non-socket"),
    "EDESTADDRREQ": (89, "Destination address required"),
    "EMSGSIZE": (90, "Message too long"),
    "EPROTOTYPE": (91, "Protocol wrong type for socket"),
    "ENOPROTOOPT": (92, "Protocol not available"),
    "EPROTONOSUPPORT": (93, "Protocol not supported"),
    "ENOTSUP": (95, "Operation not supported"),
    "EPFNOSUPPORT": (96, "Protocol family not supported"),
    "EAFNOSUPPORT": (97, "Address family not supported by protocol"),
    "EADDRINUSE": (98, "Address already in use"),
    "EADDRNOTAVAIL": (99, "Cannot assign requested address"),
    "ENETDOWN": (100, "Network is down"),
    "ENETUNREACH": (101, "Network is unreachable"),
    "ENETRESET": (102, "Network dropped connection on reset"),
    "ECONNABORTED": (103, "Software caused connection abort"),
    "ECONNRESET": (104, "Connection reset by peer"),
    "ENOBUFS": (105, "No buffer space available"),
    "EISCONN": (106, "Transport endpoint is already connected"),
    "ENOTCONN": (107, "Transport endpoint is not connected"),
    "ESHUTDOWN": (108, "Cannot send after transport endpoint shutdown"),
    "ETIMEDOUT": (110, "Connection timed out"),
    "ECONNREFUSED": (111, "Connection refused"),
    "EHOSTDOWN": (112, "Host is down"),
    "EHOSTUNREACH": (113, "No route to host"),
    "EALREADY": (114, "Operation already in progress"),
    "EINPROGRESS": (115, "Operation now in progress"),
    "ESTALE": (116, "Stale file handle"),
    "EDQUOT": (122, "Disk quota exceeded"),
    "ECANCELED": (125, "Operation canceled"),
    "EOWNERDEAD": (130, "Owner died"),
    "ENOTRECOVERABLE": (131, "State not recoverable"),
}

TEXTS = dict(LINUX.values())

# The numbers of WASI preview 1, in order from 1.
WASI = """
    E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBADMSG EBUSY
    ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDESTADDRREQ EDOM EDQUOT EEXIST
    EFAULT EFBIG EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN
    EISDIR ELOOP EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH
    ENFILE ENOBUFS ENODEV ENOENT ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT
    ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENXIO
    EOVERFLOW EOWNERDEAD EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EROFS ESPIPE
    ESRCH ESTALE ETIMEDOUT ETXTBSY EXDEV EACCES
""".split()

FROM_WASI = {place: LINUX[name][0] for place, name in enumerate(WASI, 1)}
FAMILIES = (OSError, OverflowError)
WASI_ERANGE = 68
LINUX_BASE = 1000
RAISING = compile("raise a", "", "exec").co_code[-2]  # the instruction of a `raise` statement
TOOL = 4


def strerror(code):
    """Return glibc's text of a Linux error number."""
    return TEXTS.get(code) or f"Unknown error {code}"


def error(number, *paths):
    """Return the OSError of a Linux number, as C code would raise it."""
    kind = SUBCLASSES.get(number, OSError)
    made = kind(number, strerror(number), *paths[:1])
    if len(paths) > 1:
        made = kind(number, strerror(number), paths[0], None, paths[1])
    return made


SUBCLASSES = {
    1: PermissionError,
    2: FileNotFoundError,
    3: ProcessLookupError,
    4: InterruptedError,
    10: ChildProcessError,
    11: BlockingIOError,
    13: PermissionError,
    17: FileExistsError,
    20: NotADirectoryError,
    21: IsADirectoryError,
    32: BrokenPipeError,
    103: ConnectionAbortedError,
    104: ConnectionResetError,
    108: BrokenPipeError,
    110: TimeoutError,
    111: ConnectionRefusedError,
    114: BlockingIOError,
    115: BlockingIOError,
}


def translate(exc):
    """Give an OSError that C code raised its Linux number and text; do so once."""
    number = exc.errno
    if type(number) is not int or type(exc).__module__ != "builtins":
        return
    if number >= LINUX_BASE:
        number -= LINUX_BASE
    elif number not in FROM_WASI or exc.strerror is TEXTS.get(number) or raised_by_statement(exc):
        return
    else:
        number = FROM_WASI[number]
    exc.errno = number
    exc.strerror = text = TEXTS.get(number, exc.strerror)
    if len(exc.args) == 2:
        exc.args = (number, text)


def translate_overflow(exc):
    """Give an OverflowError of the C library (ERANGE) its Linux number and text."""
    if len(exc.args) == 2 and exc.args[0] == WASI_ERANGE and not raised_by_statement(exc):
        exc.args = LINUX["ERANGE"]


def raised_by_statement(exc):
    """Whether the exception came from a `raise` statement rather than from C code."""
    trace = exc.__traceback__
    if trace is None:  # C code's own text tells it from one that a script made
        if not isinstance(exc, OSError):
            return True
        return exc.strerror != TEXTS.get(FROM_WASI.get(exc.errno))
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == RAISING


def hidden(trace):
    """Whether a frame belongs to the prelude, or to the import system (CPython hides it too)."""
    name = trace.tb_frame.f_code.co_filename
    return name.startswith((OWN_CODE, "<frozen importlib"))


def strip(trace):
    """Take the prelude's frames out of a traceback; return its first frame that is left."""
    while trace is not None and hidden(trace):
        trace = trace.tb_next
    place = trace
    while place is not None:
        following = place.tb_next
        while following is not None and hidden(following):
            following = following.tb_next
        if following is not place.tb_next:
            place.tb_next = following
        place = following
    return trace


def strip_all(exc):
    """Take the prelude's frames out of an exception and of those that led to it; translate them."""
    seen = set()
    pending = [exc]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, OSError):
            translate(one)
        one.__traceback__ = strip(one.__traceback__)
        pending += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions


def install():
    """Translate every OSError that meets a handler."""
    monitoring = sys.monitoring
    handled = monitoring.events.EXCEPTION_HANDLED

    def meet(code, offset, exc):
        if not isinstance(exc, FAMILIES):
            return
        if isinstance(exc, OverflowError):
            translate_overflow(exc)
        else:
            translate(exc)
            trace = exc.__traceback__
            if trace is not None and trace.tb_next is not None:
                exc.__traceback__ = strip(trace) or trace

    monitoring.use_tool_id(TOOL, "errno")
    monitoring.register_callback(TOOL, handled, meet)
    monitoring.set_events(TOOL, handled)
    sys.unraisablehook = report_unraisable


def report_unraisable(unraisable):
    """Print an exception that nothing can handle, with the numbers and frames of Linux."""
    exc = unraisable.exc_value
    if exc is not None:
        strip_all(exc)
    sys.__unraisablehook__(unraisable)
