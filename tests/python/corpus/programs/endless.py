"""Write lines until nobody reads."""

import sys

i = 0
try:
    while True:
        print(i)
        i += 1
except BrokenPipeError:
    sys.stderr.write("pipe closed\n")
    sys.stderr.close()
    sys.exit(0)
