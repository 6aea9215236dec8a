import signal


class T(Exception):
    pass


def h(n, f):
    raise T("timed out")


signal.signal(signal.SIGALRM, h)
signal.alarm(30)
try:
    print("work done")
finally:
    signal.alarm(0)
