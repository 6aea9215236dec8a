"""The terminal: tput, clear, reset, stty, tty."""
