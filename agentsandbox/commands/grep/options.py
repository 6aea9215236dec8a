"""The options of grep: the usage text and the parser with its checks of values."""

from __future__ import annotations

from agentsandbox.commands._text.choices import choose
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError

SMALL = 8192
"""The largest file, in bytes, that is added to a batch."""
USAGE = """
Usage: grep [OPTION]... PATTERNS [FILE]...
Print the lines of each FILE that match one of PATTERNS, which newlines separate.

Patterns:
  -E, --extended-regexp     PATTERNS are extended regular expressions
  -F, --fixed-strings, --fixed-regexp  PATTERNS are plain strings
  -G, --basic-regexp        PATTERNS are basic regular expressions (the default)
  -P, --perl-regexp         PATTERNS are Perl regular expressions
  -e, --regexp=PATTERNS     use PATTERNS; may be repeated
  -f, --file=FILE           take PATTERNS from FILE
  -i, -y, --ignore-case     ignore case in patterns and data
      --no-ignore-case      do not ignore case (the default)
  -w, --word-regexp         match whole words only
  -x, --line-regexp         match whole lines only
  -z, --null-data           lines end in a 0 byte, not in a newline

Messages:
  -s, --no-messages         say nothing about files that cannot be read
  -v, --invert-match        select the lines that do not match
  -V, --version             print the version and exit
      --help                display this help and exit

Output:
  -m, --max-count=NUM       stop after NUM selected lines of each file
  -b, --byte-offset         print the byte offset before each line
  -n, --line-number         print the line number before each line
      --line-buffered       write each line at once (always so here)
  -H, --with-filename       print the file's name before each line
  -h, --no-filename         print no file names
      --label=LABEL         the name to print for standard input
  -o, --only-matching       print only the nonempty matching parts of lines
  -q, --quiet, --silent     print nothing, exit at the first selected line
      --binary-files=TYPE   take binary files for 'binary', 'text' or 'without-match'
  -a, --text                the same as --binary-files=text
  -I                        the same as --binary-files=without-match
  -d, --directories=ACTION  what to do with directories: 'read', 'recurse' or 'skip'

  -r, --recursive           the same as --directories=recurse
  -R, --dereference-recursive  likewise, following all symbolic links
      --include=GLOB        search only files whose name matches GLOB
      --exclude=GLOB        skip files whose name matches GLOB

      --exclude-dir=GLOB    skip directories whose name matches GLOB
  -L, --files-without-match  print only the names of files without selected lines
  -l, --files-with-matches  print only the names of files with selected lines
  -c, --count               print only the number of selected lines of each file
  -T, --initial-tab         align lines by a tab after names and numbers
  -Z, --null                print a 0 byte after file names

Context:
  -B, --before-context=NUM  print NUM lines before each selected line
  -A, --after-context=NUM   print NUM lines after each selected line
  -C, --context=NUM         print NUM lines before and after
  -NUM                      the same as --context=NUM
      --group-separator=SEP  print SEP between groups of lines
      --no-group-separator  print nothing between groups of lines
      --color[=WHEN], --colour[=WHEN]  mark matches: 'always', 'never' or 'auto'
  -U, --binary              keep carriage returns (they are always kept)


With no FILE, search the working directory if recursive, else standard input; "-" is standard input.
Exit status is 0 if a line is selected, 1 if none is, 2 after an error without -q.
"""

DIRECTORIES = (("read",), ("recurse",), ("skip",))
_HUGE = 1 << 40


def _check_binary(value: str) -> None:
    if value not in ("binary", "text", "without-match"):
        raise CommandError("unknown binary-files type", 2)


def read_number(text: str, complaint: str) -> int:
    """Return a decimal number, at most 2**40."""
    digits = text.strip(" \t").removeprefix("+")
    if not digits.removeprefix("-").isascii() or not digits.removeprefix("-").isdigit():
        raise CommandError(complaint, 2)
    return int(digits) if len(digits) < 13 else _HUGE


def read_length(text: str) -> int:
    """Return a number of lines of context."""
    complaint = f"{text}: invalid context length argument"
    number = read_number(text, complaint)
    if number < 0:
        raise CommandError(complaint, 2)
    return number


LONG_OPTIONS = """
    basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp
    after-context before-context binary-files byte-offset context color colour
    count directories exclude exclude-dir file
    files-with-matches files-without-match group-separator help include
    ignore-case no-ignore-case initial-tab label line-buffered line-number
    line-regexp max-count no-filename no-group-separator no-messages null
    null-data only-matching quiet recursive dereference-recursive regexp
    invert-match silent text binary version with-filename word-regexp
"""
PARSER = OptionParser(
    USAGE,
    name="grep",
    long_options=LONG_OPTIONS,
    digits="context",
    usage_status=2,
    values={
        "context": read_length,
        "before-context": read_length,
        "after-context": read_length,
        "max-count": lambda text: read_number(text, "invalid max count"),
        "binary-files": _check_binary,
        "directories": lambda text: choose(text, "--directories", DIRECTORIES),
    },
)
