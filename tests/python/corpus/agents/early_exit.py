import os, sys

sys.stdout.write("partial")
sys.stdout.flush()
os._exit(3)
