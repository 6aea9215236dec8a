"""`python3 -m pip`: the sandbox's command `pip`."""

import sys

from pip import main

if __name__ == "__main__":
    sys.exit(main())
