"""Terminals: there is none, so every call on a descriptor raises what Linux raises for a file."""

TCSANOW, TCSADRAIN, TCSAFLUSH = 0, 1, 2
TCIFLUSH, TCOFLUSH, TCIOFLUSH = 0, 1, 2
ECHO, ECHOE, ECHOK, ECHONL, ICANON, ISIG, IEXTEN = 8, 16, 32, 64, 2, 1, 32768
BRKINT, ICRNL, INPCK, ISTRIP, IXON, OPOST = 2, 256, 16, 32, 1024, 1
CSIZE, CS8, PARENB, VMIN, VTIME = 48, 48, 256, 6, 5
TIOCGWINSZ, TIOCSWINSZ, TIOCSTI, FIONREAD = 21523, 21524, 21522, 21531


class error(Exception):
    """A terminal's error: (number, text)."""


def _refuse(fd, *rest):
    raise error(25, "Inappropriate ioctl for device")


tcgetattr = tcsetattr = tcsendbreak = tcdrain = tcflush = tcflow = _refuse
tcgetwinsize = tcsetwinsize = _refuse
