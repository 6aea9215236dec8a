"""The terminal: tput, clear, stty, tty."""
