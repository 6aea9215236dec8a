import signal, sys, os, time


def h(n, f):
    print("handler", signal.Signals(n).name)


signal.signal(signal.SIGINT, h)
signal.signal(signal.SIGTERM, h)
os.kill(os.getpid(), signal.SIGTERM)
signal.raise_signal(signal.SIGINT)
print(signal.getsignal(signal.SIGINT) is h, signal.SIGKILL.value, signal.strsignal(9))
