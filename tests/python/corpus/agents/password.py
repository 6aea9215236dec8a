import getpass

try:
    print(repr(getpass.getpass()))
except EOFError:
    print("eof")
