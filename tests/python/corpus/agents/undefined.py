import sys

print(undefined_name)
