"""Own streams."""

import select, selectors, sys, os

r, w = os.pipe()
s = selectors.DefaultSelector()
s.register(r, selectors.EVENT_READ, "R")
os.write(w, b"1")
print([(k.data, m) for k, m in s.select(1)])
print(os.read(r, 5))
print(select.select([r], [w], [], 0)[1] == [w])
