"""`signal` without a kernel: handlers run for `raise_signal` and `os.kill` of this process."""

ALARM = (
    "signal.{} is not available in this sandbox's Python: nothing can interrupt a running "
    "statement; limit a command with the shell's timeout(1), or look at time.monotonic()"
)


def apply(module):
    """Add the calls of Linux; those that need a timer or a wait are refused."""
    module.ITIMER_REAL, module.ITIMER_VIRTUAL, module.ITIMER_PROF = 0, 1, 2
    module.SIG_BLOCK, module.SIG_UNBLOCK, module.SIG_SETMASK = 0, 1, 2
    module.ItimerError = OSError

    def alarm(seconds, /):
        """Cancel the alarm (0); another number is refused."""
        if seconds:
            raise NotImplementedError(ALARM.format("alarm"))
        return 0

    def setitimer(which, seconds, interval=0.0, /):
        """Cancel a timer (0); another number is refused."""
        if seconds:
            raise NotImplementedError(ALARM.format("setitimer"))
        return (0.0, 0.0)

    def refused(name):
        def refuse(*args, **more):
            raise NotImplementedError(ALARM.format(name))

        return refuse

    module.alarm, module.setitimer = alarm, setitimer
    module.getitimer = lambda which: (0.0, 0.0)
    module.pause, module.sigwait = refused("pause"), refused("sigwait")
    module.siginterrupt = lambda number, flag: None
    module.pthread_sigmask = lambda how, mask: set()
    module.sigpending = set
    module.valid_signals = lambda: set(module.Signals)
