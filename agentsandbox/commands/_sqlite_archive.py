"""`sqlite3 -A` and `.archive`: files in the table `sqlar` of a database, as `tar` keeps them in an archive."""

from __future__ import annotations

import posixpath
import sqlite3
import stat
import time
import zlib

from agentsandbox.command import normalize
from agentsandbox.commands._sqlite_database import Database
from agentsandbox.commands._sqlite_files import OpenError
from agentsandbox.languages.modes import format_mode
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands._sqlite_shell import Shell
    from agentsandbox.fs.base import Stat

__all__ = ["run_archive"]

_HELP = """.archive ...             Files in a database
   One of these:
     -c, --create               a new archive
     -u, --update               add or replace files of which time or mode has changed
     -i, --insert               add or replace files
     -r, --remove               take files out
     -t, --list                 list what is in it
     -x, --extract              write files
   and:
     -v, --verbose              tell of each file
     -f FILE, --file FILE       the archive is FILE, not the database
     -C DIR, --directory DIR    files are read from DIR or written there
     -g, --glob                 names are patterns
"""
_COMMANDS = {"c": "create", "u": "update", "i": "insert", "r": "remove", "t": "list", "x": "extract"}
_FLAGS = {"v": "verbose", "g": "glob", "n": "dryrun"}
_VALUES = {"f": "file", "a": "append", "C": "directory"}
_LETTERS = {**_COMMANDS, **_FLAGS, **_VALUES}
_TABLE = """CREATE TABLE IF NOT EXISTS sqlar(
  name TEXT PRIMARY KEY,  -- name of the file
  mode INT,               -- access permissions
  mtime INT,              -- last modification time
  sz INT,                 -- original file size
  data BLOB               -- compressed content
);"""
_UNCHANGED = "SELECT 1 FROM sqlar WHERE name=? AND mtime=? AND mode=?"


class ArchiveError(Exception):
    """The command ends with this message, on standard output if it is told so."""

    def __init__(self, message: str, *, on_stdout: bool = False) -> None:
        super().__init__(message)
        self.on_stdout = on_stdout


class _Words:
    """The words of the command: as `tar` takes them, or each option with its dash."""

    def __init__(self, words: Sequence[str]) -> None:
        self.given: dict[str, str] = {}
        self.names: list[str] = []
        rest = list(words)
        if not rest[0].startswith("-"):
            for letter in rest.pop(0):
                self._add(self._long(letter), letter, rest, "")
            self.names = rest
            return
        while rest:
            word = rest.pop(0)
            if not word.startswith("-"):
                self.names = [word, *rest]
                return
            if word == "--":
                self.names = rest
                return
            if word.startswith("--"):
                fitting = [name for name in _LETTERS.values() if name.startswith(word[2:])]
                if word == "--help":
                    fitting = ["help"]
                if len(fitting) != 1:
                    raise ArchiveError(f"{'ambiguous' if fitting else 'unrecognized'} option: {word}")
                self._add(fitting[0], word, rest, "")
                continue
            at = 1
            while at < len(word):
                name = self._long(word[at])
                attached = word[at + 1 :] if name in _VALUES.values() else ""
                self._add(name, word[at], rest, attached)
                at += 1 + len(attached)

    @staticmethod
    def _long(letter: str) -> str:
        if letter not in _LETTERS:
            raise ArchiveError(f"unrecognized option: {letter}")
        return _LETTERS[letter]

    def _add(self, name: str, written: str, rest: list[str], attached: str) -> None:
        if name in _COMMANDS.values():
            if self.command is not None and self.command != name:
                raise ArchiveError("multiple command options")
            self.given[name] = ""
        elif name in _VALUES.values():
            if not attached and not rest:
                raise ArchiveError(f"option requires an argument: {written}")
            self.given[name] = attached or rest.pop(0)
        else:
            self.given[name] = ""

    @property
    def command(self) -> str | None:
        """What is to be done."""
        return next((name for name in _COMMANDS.values() if name in self.given), None)


def run_archive(shell: Shell, words: Sequence[str], *, hint: str) -> bool:
    """Run the command; false if it failed. `hint` is how its help is called."""
    if not words:
        shell.complain(f"Wrong number of arguments.  Usage:\n{_HELP}".removesuffix("\n"))
        return False
    try:
        found = _Words(words)
        for name in ("dryrun", "append"):
            if name in found.given:
                raise ArchiveError(f"--{name} is not available in this sandbox")
    except ArchiveError as error:
        shell.complain(f'Error: {error}\nUse "{hint}" for more help')
        return False
    if "help" in found.given:
        shell.write(_HELP)
        return True
    file = found.given.get("file")
    try:
        database = shell.database if file is None else Database(shell.ctx, file)
    except OpenError:
        shell.complain(f"cannot open file: {file} (unable to open database file)")
        return False
    try:
        _Archive(shell, database, found).run()
    except ArchiveError as error:
        if error.on_stdout:
            shell.write(f"{error}\n")
        else:
            shell.complain(str(error))
        return False
    except sqlite3.Error as error:
        raise database.explain(error, "") from None
    finally:
        if file is not None:
            database.close()
    return True


class _Archive:
    """One command on one archive."""

    def __init__(self, shell: Shell, database: Database, words: _Words) -> None:
        self.shell = shell
        self.ctx = shell.ctx
        self.connection = database.connection
        self.database = database
        self.command = words.command
        self.verbose = "verbose" in words.given
        self.directory = words.given.get("directory", "")
        self.glob = "glob" in words.given
        self.names = words.names

    def run(self) -> None:
        """Do what is asked for."""
        makes = self.command in ("create", "insert", "update")
        if not makes and not self._rows("SELECT 1 FROM sqlite_schema WHERE name='sqlar'"):
            raise ArchiveError("database does not contain an 'sqlar' table")
        if makes:
            self._add()
            return
        names = [name.rstrip("/") or name for name in self.names] if not self.glob else self.names
        where, values = self._where(names)
        actions = {"remove": self._remove, "list": self._list, "extract": self._extract}
        if self.command is not None:
            actions[self.command](where, values)

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        return self.connection.execute(sql, values).fetchall()

    def _where(self, names: list[str]) -> tuple[str, list[object]]:
        """The condition for the names, all of which must be there."""
        parts: list[str] = []
        values: list[object] = []
        for name in names:
            self.ctx.budget.step()
            part = "name GLOB ?" if self.glob else "(name = ? OR substr(name,1,?) = ?)"
            given: list[object] = [name] if self.glob else [name, len(name) + 1, f"{name}/"]
            if not self.glob and not self._rows("SELECT 1 FROM sqlar WHERE name=?", [name]):
                raise ArchiveError(f"not found in archive: {name}")
            parts.append(part)
            values += given
        return " OR ".join(parts) or "1", values

    def _remove(self, where: str, values: list[object]) -> None:
        if not self.names:
            raise ArchiveError('ERROR: near ";": syntax error', on_stdout=True)
        self._rows(f"DELETE FROM sqlar WHERE {where}", values)

    def _list(self, where: str, values: list[object]) -> None:
        if not self.verbose:
            for (name,) in self._rows(f"SELECT name FROM sqlar WHERE {where}", values):
                self.shell.write(f"{name}\n")
            return
        for name, mode, mtime, size in self._rows(f"SELECT name, mode, mtime, sz FROM sqlar WHERE {where}", values):
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(min(max(_number(mtime), -(2**35)), 2**37)))
            self.shell.write(f"{format_mode(_number(mode))} {_number(size): 10d}  {when}  {name}\n")

    # writing files

    def _extract(self, where: str, values: list[object]) -> None:
        kept = f"({where}) AND name NOT GLOB '*..[/\\]*'"
        for name, mode, mtime, size, data in self._rows(f"SELECT name, mode, mtime, sz, data FROM sqlar WHERE {kept}", values):
            self.ctx.budget.step()
            shown = f"{self.directory}/{name}" if self.directory else str(name)
            content = self._expanded(data, _number(size))
            if not self._write(self.ctx.path(shown), _number(mode), content):
                raise ArchiveError(f"SQL error: failed to write file: {shown}")
            if self.verbose:
                self.shell.write(f"{shown}\n")
            if not stat.S_ISLNK(_number(mode)):
                self.ctx.fs.utime(self.ctx.path(shown), float(_number(mtime)))
        for name, mode, mtime in self._rows(f"SELECT name, mode, mtime FROM sqlar WHERE {kept} AND data IS NULL", values):
            path = self.ctx.path(f"{self.directory}/{name}" if self.directory else str(name))
            if stat.S_ISDIR(_number(mode)):
                self.ctx.fs.chmod(path, _number(mode) & 0o7777)
                self.ctx.fs.utime(path, float(_number(mtime)))

    def _write(self, path: str, mode: int, content: bytes) -> bool:
        fs, path = self.ctx.fs, normalize(path)
        try:
            fs.makedirs(posixpath.dirname(path), 0o777 & ~self.ctx.umask)
            if stat.S_ISLNK(mode):
                fs.symlink(decode(content), path)
            elif stat.S_ISDIR(mode):
                if not fs.is_dir(path):
                    fs.mkdir(path, mode & 0o777)
            else:
                fs.write_bytes(path, content)
                fs.chmod(path, mode & 0o777)
        except OSError:
            return False
        return True

    def _expanded(self, data: object, size: int) -> bytes:
        content = b"" if data is None else data if isinstance(data, bytes) else encode(str(data))
        if size == len(content):
            return content
        if size < 0:  # links: they can be kept, but not written
            raise ArchiveError("SQL error: error in uncompress()")
        self.ctx.budget.charge(size)
        expander = zlib.decompressobj()
        try:
            expanded = expander.decompress(content, size)
        except zlib.error:
            expanded = b""
        if len(expanded) != size:
            raise ArchiveError("SQL error: error in uncompress()")
        return expanded

    # reading files

    def _add(self) -> None:
        connection = self.connection
        connection.execute("SAVEPOINT ar")
        try:
            if self.command == "create":
                connection.execute("DROP TABLE IF EXISTS sqlar")
            connection.execute(_TABLE)
            for name in self.names:
                for found, path, info in self._below(name):
                    self._add_file(found, path, info)
        except (ArchiveError, sqlite3.Error, OSError):
            connection.execute("ROLLBACK TO ar")
            connection.execute("RELEASE ar")
            raise
        connection.execute("RELEASE ar")

    def _below(self, name: str) -> Iterator[tuple[str, str, Stat]]:
        """The file, and below a directory all others: the name in the archive, the path, what is known."""
        pending = [name]
        while pending:
            found = pending.pop()
            self.ctx.budget.step()
            path = self.ctx.path(f"{self.directory}/{found}" if self.directory else found)
            try:
                info = self.ctx.fs.stat(path, follow=False)
            except OSError:
                shown = f"{self.directory}/{found}" if self.directory else found
                raise ArchiveError(f"ERROR: cannot stat file: {shown}", on_stdout=True) from None
            yield found, path, info
            if info.is_dir:
                pending += [f"{found}/{entry}" for entry in reversed(self.ctx.fs.listdir(path))]

    def _add_file(self, name: str, path: str, info: Stat) -> None:
        mtime = int(info.mtime)
        if self.command == "update" and self._rows(_UNCHANGED, [name, mtime, info.mode]):
            return
        data: bytes | str | None = None
        size = -1
        if info.is_dir:
            size = 0
        elif info.is_link:
            data = self.ctx.fs.readlink(path)
        elif info.is_file:
            content = self.ctx.fs.read_bytes(path)
            size = len(content)
            packed = zlib.compress(content)
            data = packed if len(packed) < size else content
        if self.verbose:
            self.shell.write(f"{name}\n")
        self._rows("REPLACE INTO sqlar(name,mode,mtime,sz,data) VALUES (?,?,?,?,?)", [name, info.mode, mtime, size, data])


def _number(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) else 0
