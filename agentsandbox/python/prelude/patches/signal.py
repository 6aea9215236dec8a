"""`signal` without a kernel: handlers run for `raise_signal`, the own `os.kill`, and alarms.

While an alarm is set, loops and calls of functions look at the time (`sys.monitoring`), and so do
`time.sleep` and the wait for a child: there the handler runs when the time has come. Signals from
outside end the process.
"""

import os
import sys
import time

ALARM = (
    "signal.{} is not available in this sandbox's Python: no signal comes from outside; limit a "
    "command with the shell's timeout(1), or look at time.monotonic()"
)
SIGALRM = 14
TOOL = 3
CPYTHON_SLEEP = time.sleep


class Alarm:
    """The time of the next SIGALRM, in seconds of the monotonic clock, or None."""

    time = None
    interval = 0.0

    @classmethod
    def set(cls, seconds, interval=0.0):
        """Set or cancel the alarm; return the seconds that the one before had left."""
        before = cls.time
        if not sys.monitoring.get_tool(TOOL):
            sys.monitoring.use_tool_id(TOOL, "alarm")
            for event in (EVENTS.PY_START, EVENTS.JUMP):
                sys.monitoring.register_callback(TOOL, event, look)
        now = time.monotonic()
        cls.time, cls.interval = (now + seconds if seconds else None), interval
        sys.monitoring.set_events(TOOL, EVENTS.PY_START | EVENTS.JUMP if seconds else 0)
        return 0.0 if before is None else max(0.0, before - now)

    @classmethod
    def ring(cls):
        """Do what SIGALRM does."""
        cls.set(cls.interval, cls.interval)
        import signal

        handler = signal.getsignal(SIGALRM)
        if callable(handler):
            handler(SIGALRM, sys._getframe(2))
        elif handler == signal.SIG_DFL:
            os._exit(128 + SIGALRM)


EVENTS = sys.monitoring.events


def look(code, *place):
    """Ring if the time has come."""
    if Alarm.time is not None and time.monotonic() >= Alarm.time:
        Alarm.ring()


def sleep(seconds, /):
    """Delay execution for a number of seconds; an alarm rings meanwhile."""
    if Alarm.time is None or seconds < 0:
        return CPYTHON_SLEEP(seconds)
    end = time.monotonic() + seconds
    while Alarm.time is not None and Alarm.time < end:
        CPYTHON_SLEEP(max(0.0, Alarm.time - time.monotonic()))
        look(None)
    return CPYTHON_SLEEP(max(0.0, end - time.monotonic()))


def apply(module):
    """Add the calls of Linux; those that wait for signals from outside are refused."""
    module.ITIMER_REAL, module.ITIMER_VIRTUAL, module.ITIMER_PROF = 0, 1, 2
    module.SIG_BLOCK, module.SIG_UNBLOCK, module.SIG_SETMASK = 0, 1, 2
    module.ItimerError = OSError

    def alarm(seconds, /):
        """Set the alarm to ring after whole seconds, or cancel it (0)."""
        return -int(-Alarm.set(max(0, seconds.__index__())) // 1)

    def setitimer(which, seconds, interval=0.0, /):
        """Set the timer of real time, or cancel it (0); the other timers are refused."""
        if which != module.ITIMER_REAL:
            raise NotImplementedError(ALARM.format("setitimer for other than ITIMER_REAL"))
        if seconds < 0 or interval < 0:
            raise module.ItimerError(22, "Invalid argument")
        before = Alarm.interval
        return (Alarm.set(seconds, interval), before)

    def getitimer(which, /):
        """Return (seconds left, interval) of a timer."""
        if which != module.ITIMER_REAL or Alarm.time is None:
            return (0.0, 0.0)
        return (max(0.0, Alarm.time - time.monotonic()), Alarm.interval)

    def pause():
        """Wait for the alarm."""
        if Alarm.time is None:
            raise NotImplementedError(ALARM.format("pause without an alarm"))
        time.sleep(max(0.0, Alarm.time - time.monotonic()) + 0.001)

    def refused(name):
        def refuse(*args, **more):
            raise NotImplementedError(ALARM.format(name))

        return refuse

    time.sleep = sleep
    module._sandbox_alarm = Alarm
    module.alarm, module.setitimer, module.getitimer = alarm, setitimer, getitimer
    module.pause, module.sigwait = pause, refused("sigwait")
    module.siginterrupt = lambda number, flag: None
    module.pthread_sigmask = lambda how, mask: set()
    module.sigpending = set
    module.valid_signals = lambda: set(module.Signals)
