import atexit
import os
import sys

atexit.register(print, "atexit ran")
kind = sys.argv[1]
if kind == "text":
    sys.exit("a message")
if kind == "none":
    sys.exit()
if kind == "number":
    sys.exit(int(sys.argv[2]))
if kind == "object":
    sys.exit([1, 2])
if kind == "raise":
    raise SystemExit(3)
if kind == "caught":
    try:
        sys.exit(4)
    except SystemExit as e:
        print("caught", e.code)
if kind == "finally":
    try:
        sys.exit(5)
    finally:
        print("finally")
if kind == "_exit":
    print("lost?", flush=True)
    os._exit(6)
if kind == "bool":
    sys.exit(True)
if kind == "quit":
    quit(8)
if kind == "error in atexit":
    atexit.register(lambda: 1 / 0)
if kind == "interrupt":
    raise KeyboardInterrupt
if kind == "closed":
    sys.stdout.close()
    sys.exit(0)
