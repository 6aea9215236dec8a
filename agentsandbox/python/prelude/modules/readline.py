"""Line editing: there is no terminal, so lines are read as they come and no key is bound."""

backend = "readline"

_lines = []


def parse_and_bind(string, /):
    """Bind nothing: there is no terminal."""


def _nothing(*args):
    """Do nothing: there is no terminal."""


read_init_file = set_completer_delims = set_pre_input_hook = set_startup_hook = _nothing
set_completion_display_matches_hook = set_auto_history = insert_text = redisplay = _nothing
set_completer = set_history_length = _nothing


def get_completer():
    """Return None: no key asks for completions."""
    return


def get_completer_delims():
    """Return the characters that separate words."""
    return " \t\n`~!@#$%^&*()-=+[{]}\\|;:'\",<>/?"


def get_line_buffer():
    """Return the line that is being edited: none is."""
    return ""


def get_history_length():
    """Return -1: the history is not cut."""
    return -1


def add_history(line, /):
    """Add a line to the history."""
    _lines.append(line)


def get_current_history_length():
    """Return how many lines the history has."""
    return len(_lines)


def get_history_item(index, /):
    """Return a line of the history, from 1, or None."""
    return _lines[index - 1] if 0 < index <= len(_lines) else None


def clear_history():
    """Forget the history."""
    _lines.clear()


def read_history_file(filename="~/.history", /):
    """Read the history from a file."""
    import os

    with open(os.path.expanduser(filename), encoding="utf-8") as file:
        _lines.extend(file.read().splitlines())


def write_history_file(filename="~/.history", /):
    """Write the history to a file."""
    import os

    with open(os.path.expanduser(filename), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in _lines)
