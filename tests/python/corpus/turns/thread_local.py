"""Thread local."""

import threading

data = threading.local()
data.v = "main"
r = []


def f(v):
    data.v = v
    r.append(data.v)


t = threading.Thread(target=f, args=("t",))
t.start()
t.join()
print(r, data.v)
