"""`multiprocessing` refused by name where it would start a process or make shared objects."""

REFUSAL = (
    "multiprocessing.{} is not available in this sandbox's Python: there is one process; "
    "use a loop, or concurrent.futures.ThreadPoolExecutor, which runs the calls one after the other"
)
NAMES = """
    Pool Manager Pipe Lock RLock Condition Semaphore BoundedSemaphore Event Barrier Queue
    JoinableQueue SimpleQueue RawValue RawArray Value Array
""".split()


class UnavailableError(NotImplementedError, ImportError):
    """What is refused; an ImportError too, as CPython raises where semaphores are missing."""


def apply(module):
    """Refuse what needs a second process."""
    from multiprocessing import context, process

    def refused(name):
        def refuse(*args, **more):
            raise UnavailableError(REFUSAL.format(name))

        refuse.__name__ = name
        return refuse

    def start(self):
        raise UnavailableError(REFUSAL.format("Process"))

    process.BaseProcess.start = start
    for name in NAMES:
        refuse = refused(name)
        setattr(context.BaseContext, name, refuse)
        setattr(module, name, refuse)
    module.cpu_count = lambda: 1
