import getopt
import sys

try:
    options, rest = getopt.gnu_getopt(sys.argv[1:], "ho:v", ["help", "output=", "verbose"])
except getopt.GetoptError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
print(options, rest)
