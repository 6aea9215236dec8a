"""Limits and use of resources; the limits are those of the sandbox and cannot be changed here."""

import time

RLIM_INFINITY = -1
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE = 0, 1, 2, 3, 4
RLIMIT_RSS, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS = 5, 6, 7, 8, 9
RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1
PAGE = 65536
DESCRIPTORS = 1024

error = OSError


class struct_rusage(tuple):
    """What a process used: times in seconds, memory in KiB; the rest is not counted."""

    __slots__ = ()
    ru_utime = property(lambda self: self[0])
    ru_stime = property(lambda self: self[1])
    ru_maxrss = property(lambda self: self[2])


for _place, _name in enumerate(
    "ixrss idrss isrss minflt majflt nswap inblock oublock msgsnd msgrcv nsignals nvcsw "
    "nivcsw".split(),
    3,
):
    setattr(struct_rusage, "ru_" + _name, property(lambda self, place=_place: self[place]))


def getrusage(who, /):
    """Return the time that this process used; WASI counts nothing else."""
    if who not in (RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD):
        raise ValueError("invalid who parameter")
    used = time.process_time() if who != RUSAGE_CHILDREN else 0.0
    return struct_rusage((used, 0.0) + (0,) * 14)


def getrlimit(resource, /):
    """Return (soft, hard) of a limit."""
    if not 0 <= resource <= 15:
        raise ValueError("invalid resource specified")
    if resource == RLIMIT_NOFILE:
        return (DESCRIPTORS, DESCRIPTORS)
    return (RLIM_INFINITY, RLIM_INFINITY)


def setrlimit(resource, limits, /):
    """Raise ValueError unless the limits are those that hold."""
    if tuple(limits) != getrlimit(resource):
        raise ValueError("the limits of this sandbox's Python cannot be changed from inside")


def getpagesize():
    """Return the size of a page of memory in bytes."""
    return PAGE
