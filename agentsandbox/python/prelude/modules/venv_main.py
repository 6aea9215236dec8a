"""`python3 -m venv`."""

from venv import main

main()
