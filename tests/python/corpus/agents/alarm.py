import signal, time


def h(n, f):
    raise TimeoutError("late")


signal.signal(signal.SIGALRM, h)
signal.alarm(1)
try:
    time.sleep(5)
    print("no")
except TimeoutError as e:
    print("caught", e)
