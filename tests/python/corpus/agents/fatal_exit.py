import sys


def main():
    print("to err", file=sys.stderr)
    sys.exit("fatal: no")


main()
