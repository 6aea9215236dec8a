import sys

data = sys.stdin.buffer.read()
sys.stdout.buffer.write(data[::-1])
sys.stdout.buffer.flush()
print(len(data))
