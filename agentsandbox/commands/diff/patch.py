"""`patch` (POSIX 1003.1-2017, GNU patch): apply a difference to files.

`read_patches` parses the text, `choose_name` finds the file of each part, `Application` places the
hunks. `_Job` does the rest for one file: it asks the questions of GNU patch (and takes the answer
of somebody who is not there), keeps the original and writes the rejects.
"""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._text.quoting import quote_as
from agentsandbox.commands.diff.applying import Application, print_reject
from agentsandbox.commands.diff.lines import split_lines
from agentsandbox.commands.diff.patch_names import choose_name, header_name, is_nothing
from agentsandbox.commands.diff.patches import FilePatch, Hunk, PatchError, read_patches
from agentsandbox.commands.diff.usage import with_hint
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, decode, encode

_TROUBLE = 2


@command(
    "patch",
    manners=Manners(
        long_options="""
            backup prefix context directory ifdef ed remove-empty-files force fuzz get
            input ignore-whitespace merge normal forward output strip reject-file
            reverse quiet silent batch set-time unified version version-control debug
            basename-prefix suffix set-utc dry-run verbose binary help
            backup-if-mismatch no-backup-if-mismatch posix quoting-style reject-format
            read-only follow-symlinks
        """,
        read_error=("NAME: **** read error : REASON", 2),
        closed_read_error=("NAME: **** fstat : REASON", 2),
        write_error=SILENT,
    ),
    raw=True,
    usage_status=2,
    usage="""
    Usage: patch [OPTION]... [ORIGFILE [PATCHFILE]]
    Apply a difference, as diff makes it, to files.

      -p, --strip=NUM            cut NUM leading components from file names
      -F, --fuzz=LINES           how many lines of context may not match (default 2)
      -l, --ignore-whitespace    amounts of blanks do not count
      -c, --context              the patch is a context difference
      -n, --normal               the patch is a normal difference
      -u, --unified              the patch is a unified difference
      -N, --forward              leave out patches that seem reversed or applied already
      -R, --reverse              undo the patch
      -i, --input=PATCHFILE      read the patch from PATCHFILE
      -o, --output=FILE          write the result to FILE
      -r, --reject-file=FILE     write rejects to FILE
      -D, --ifdef=NAME           keep both versions, with '#ifdef NAME'
      -E, --remove-empty-files   remove files that are empty afterwards
      -b, --backup               keep the original of each file
          --backup-if-mismatch   keep it if the patch did not fit exactly (the default)
          --no-backup-if-mismatch  keep it only with -b
      -f, --force                ask nothing; take no patch as reversed
      -s, --quiet, --silent      no messages but errors
          --dry-run              change nothing
      -d, --directory=DIR        work in DIR
      -v, --version              display the version and exit
          --help                 display this help and exit

    Status is 0 if all hunks fit, 1 if some did not, 2 if there was trouble.
    """,
)
def patch(ctx: CommandContext, args: Arguments) -> int:
    return with_hint(ctx, lambda: _patch(ctx, patch.parser().parse(args.operands)), patch.usage)


def _patch(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("version"):
        ctx.print("GNU patch 2.7.6")
        return 0
    if len(args.operands) > 2:
        raise UsageError(f"{args.operands[2]}: extra operand", _TROUBLE)
    options = _Options(args)
    directory = args.value("directory")
    if directory is not None:
        path = ctx.path(directory)
        if not ctx.fs.is_dir(path):
            reason = os.strerror(errno.ENOTDIR if ctx.fs.exists(path) else errno.ENOENT)
            raise CommandError(f"**** Can't change to directory {directory} : {reason}", _TROUBLE)
        ctx.cwd = path
    operands = args.operands
    source = operands[1] if len(operands) > 1 else args.value("input")
    data = _read_patch(ctx, source)
    try:
        patches = read_patches(data, ctx.budget, options.kind)
    except PatchError as error:
        raise CommandError(f"**** {error}", _TROUBLE) from None
    status = 0
    for file_patch in patches:
        job = _Job(ctx, options, file_patch, operands[0] if operands else None)
        if file_patch.kind == "context" and not file_patch.hunks:
            job.check_rest()
        status = max(status, job.run())
    if data and not patches:
        raise CommandError("**** Only garbage was found in the patch input.", _TROUBLE)
    return status


def _read_patch(ctx: CommandContext, source: str | None) -> bytes:
    try:
        data = (
            ctx.stdin.read() if source in (None, "-") else ctx.fs.read_bytes(ctx.path(source or ""))
        )
    except InputError:
        if source in (None, "-"):
            raise
        raise CommandError("**** read error : Is a directory", _TROUBLE) from None
    except OSError as error:
        raise CommandError(
            f"**** Can't open patch file {describe_os_error(error, f'{source} ')}", _TROUBLE
        ) from None
    ctx.budget.charge(len(data))
    return data


class _Options:
    """The options of the command line."""

    def __init__(self, args: Arguments) -> None:
        self.strip = _number(args, "strip", -1, "strip count")
        self.fuzz = _number(args, "fuzz", 2, "fuzz factor")
        self.reverse = args.flag("reverse")
        self.forward = args.flag("forward")
        self.force = args.flag("force")
        self.silent = args.flag("quiet")
        self.dry_run = args.flag("dry-run")
        self.backup = args.flag("backup")
        mismatch = args.last("backup-if-mismatch", "no-backup-if-mismatch")
        self.backup_if_mismatch = mismatch != "no-backup-if-mismatch"
        self.output = args.value("output")
        self.reject = args.value("reject-file")
        self.remove_empty = args.flag("remove-empty-files")
        self.ignore_blanks = args.flag("ignore-whitespace")
        self.symbol = encode(args.value("ifdef") or "") if args.flag("ifdef") else None
        self.kind = args.last("context", "normal", "unified")


def _number(args: Arguments, key: str, default: int, what: str) -> int:
    text = args.value(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal()):
        raise CommandError(f"**** {what} {text} is not a number", _TROUBLE)
    return int(text[:9])


class _Job:
    """The application of the patch for one file."""

    def __init__(
        self, ctx: CommandContext, options: _Options, file_patch: FilePatch, given: str | None
    ) -> None:
        self.ctx = ctx
        self.options = options
        self.patch = file_patch
        self.given = given
        self.reverse = options.reverse
        self.skipping = False
        self.mismatch = False
        self.failed: list[tuple[Hunk, int]] = []

    def say(self, text: str) -> None:
        """Write a message, unless silent."""
        if not self.options.silent:
            self.tell(text)

    def tell(self, text: str) -> None:
        """Write a message to stdout, or to stderr when the result goes to stdout."""
        out = self.ctx.stderr if self.options.output == "-" else self.ctx.stdout
        out.write(encode(text))

    def check_rest(self) -> None:
        """Raise what is wrong behind the last hunk."""
        if self.patch.error:
            raise CommandError(f"**** {self.patch.error}", _TROUBLE)

    def show_leading(self) -> None:
        """Show the text before the first hunk."""
        if not self.patch.leading:
            return
        self.tell("The text leading up to this was:\n--------------------------\n")
        for line in self.patch.leading:
            self.tell("|" + decode(line.rstrip(b"\n")) + "\n")
        self.tell("--------------------------\n")

    def shown(self, name: str) -> str:
        """Return a file name as messages quote it."""
        return quote_as(name, "shell")

    @property
    def verb(self) -> str:
        return "checking" if self.options.dry_run else "patching"

    def run(self) -> int:
        """Return 0, or 1 if something was rejected."""
        name = self.given or choose_name(
            self.ctx, self.patch, self.options.strip, reverse=self.reverse
        )
        if self.patch.kind == "git":
            return self._git_only()
        if name is None:
            return self._not_found()
        target = self.options.output or name
        path = self.ctx.path(name)
        exists = self.ctx.fs.exists(path)
        if exists and self.ctx.fs.is_dir(path):
            self.tell(f"File {self.shown(name)} is not a regular file -- refusing to patch\n")
            self._refuse_all(name)
            return 1
        if exists and not self.ctx.fs.stat(path).permissions & 0o200:
            self.tell(f"File {self.shown(name)} is read-only; trying to patch anyway\n")
        original = self.ctx.fs.read_bytes(path) if exists else b""
        self.ctx.budget.charge(len(original))
        self._compare_existence(name, original, exists)
        if self.skipping:
            self._say_ignored(None)
            return 1
        options = self.options
        if self.patch.stripped:
            self.say("(Stripping trailing CRs from patch; use --binary to disable.)\n")
        source = f" (read from {name})" if options.output else ""
        self.say(f"{self.verb} file {self.shown(target)}{source}\n")
        lines = split_lines(original, self.ctx.budget)
        application = Application(
            lines, self.ctx.budget, ignore_blanks=options.ignore_blanks, symbol=options.symbol
        )
        application.creates = bool(original) and self._absent(old=True)
        for number, hunk in enumerate(self.patch.hunks, 1):
            self._take(application, hunk.reversed() if self.reverse else hunk, number)
        self.check_rest()
        return self._finish(name, target, original, application, exists)

    def _not_found(self) -> int:
        self.say(f"can't find file to patch at input line {self.patch.line}\n")
        if self.patch.old_header or self.patch.new_header:
            used = "used the wrong" if self.options.strip >= 0 else "should have used the"
            self.say(f"Perhaps you {used} -p or --strip option?\n")
        self.show_leading()
        if self.options.force:
            self.tell("No file to patch.  Skipping patch.\n")
        else:
            self.tell("File to patch: \nSkip this patch? [y] \n")
            self.say("Skipping patch.\n")
        self._say_ignored(None)
        return 1

    def _refuse_all(self, name: str) -> None:
        reject = self.options.reject or (self.options.output or name) + ".rej"
        saves = not self.options.dry_run and reject != "-"
        self.failed = [(hunk.reversed() if self.reverse else hunk, 0) for hunk in self.patch.hunks]
        self._say_ignored(self.shown(reject) if saves else None)
        if saves:
            self._save_rejects(reject)

    def _say_ignored(self, reject: str | None) -> None:
        self.check_rest()
        count = len(self.patch.hunks)
        tail = f" -- saving rejects to file {reject}" if reject else ""
        self.tell(f"{count} out of {count} hunk{'s' if count != 1 else ''} ignored{tail}\n")

    # whether the file should be there

    def _absent(self, *, old: bool) -> bool:
        """Whether the header means that the file does not exist before the patch, or after it."""
        header = self.patch.old_header if old != self.reverse else self.patch.new_header
        git = b"new file mode" if old != self.reverse else b"deleted file mode"
        return is_nothing(header) or git in self.patch.git

    def _compare_existence(self, name: str, original: bytes, exists: bool) -> None:
        """Ask about a file to create that exists, or a file to remove that is empty."""
        if not self.patch.hunks:
            return
        first = self.patch.hunks[0].reversed() if self.reverse else self.patch.hunks[0]
        if original:
            if not self._absent(old=True) or first.old_lines():
                return
            verb, fact = "create", "already exists"
        elif self.patch.kind == "normal" or not first.leaves_nothing():
            return
        elif exists:
            verb, fact = "empty out", "is already empty"
        else:
            verb, fact = "delete", "does not exist"
        turned = ", when reversed," if self.reverse else ""
        decided = self.options.forward or self.options.force
        tell = self.say if decided else self.tell
        tell(f"The next patch{turned} would {verb} the file {self.shown(name)},\nwhich {fact}!")
        self._skip_unless_forced()

    def _skip_unless_forced(self) -> None:
        """Ask whether to apply the patch the other way round; nobody answers, so it is skipped."""
        if self.options.force and not self.options.forward:
            self.say("  Applying it anyway.\n")
            return
        self.skipping = True
        if self.options.forward:
            self.say("  Skipping patch.\n")
            return
        self.tell(f"  {'Ignore' if self.reverse else 'Assume'} -R? [n] \nApply anyway? [n] \n")
        self.say("Skipping patch.\n")

    # one hunk

    def _take(self, application: Application, hunk: Hunk, number: int) -> None:
        options = self.options
        where = fuzz = 0
        if not self.skipping:
            most = min(options.fuzz, max(hunk.leading(), hunk.trailing()))
            while True:
                where = application.locate(hunk, fuzz)
                self.mismatch = self.mismatch or not where
                if number == 1 and not where and not options.force:
                    if application.locate(hunk.reversed(), fuzz):
                        what = "Unreversed" if self.reverse else "Reversed (or previously applied)"
                        self.tell(f"{what} patch detected!")
                        self._skip_unless_forced()
                if self.skipping or where or fuzz >= most:
                    break
                fuzz += 1
        self.mismatch = self.mismatch or not where or bool(fuzz) or bool(application.offset)
        shown = (where or hunk.old_start) + application.growth
        if self.skipping or not where:
            self.failed.append((hunk, application.growth))
            if not self.skipping:
                self.say(f"Hunk #{number} FAILED at {shown}.\n")
            return
        application.apply(hunk, where)
        if fuzz or application.offset:
            self._say_succeeded(number, shown, fuzz, application.offset)

    def _say_succeeded(self, number: int, shown: int, fuzz: int, offset: int) -> None:
        text = f"Hunk #{number} succeeded at {shown}"
        if fuzz:
            text += f" with fuzz {fuzz}"
        if offset:
            text += f" (offset {offset} line{'' if offset == 1 else 's'})"
        self.say(text + ".\n")

    # the result

    def _finish(
        self, name: str, target: str, original: bytes, application: Application, exists: bool
    ) -> int:
        options = self.options
        result = b"" if self.skipping and options.output else application.result()
        reject = options.reject or target + ".rej"
        status = 0
        whole = len(self.failed) == len(self.patch.hunks)
        mismatch = options.backup_if_mismatch and self.mismatch and not self.skipping
        keeps = options.backup or mismatch
        if not exists and not options.dry_run:
            self.ctx.fs.makedirs(posixpath.dirname(self.ctx.path(target)))
        if whole and keeps and not exists and not options.dry_run and not self._absent(old=False):
            self._keep_original(target, original)
            reason = f"{self.shown(name)} : No such file or directory"
            raise CommandError(f"**** Can't reopen file {reason}", _TROUBLE)
        leaves = not options.remove_empty and not self._absent(old=False)
        removed = not result and not leaves and not options.output
        if not removed and result and not self.skipping and self._absent(old=False):
            self.say(f"Not deleting file {self.shown(target)} as content differs from patch\n")
            status = 1
        if self.failed:
            status = 1
            self._say_failed(reject)
        if not options.dry_run:
            if keeps:
                self._keep_original(target, original)
            if options.output == "-":
                self.ctx.stdout.write(result)
            elif options.output or not whole or (removed and not self.skipping):
                self._store(name, target, result, removed, exists)
            if self.failed and reject != "-":
                self._save_rejects(reject)
        return status

    def _say_failed(self, reject: str) -> None:
        count, total = len(self.failed), len(self.patch.hunks)
        what = "ignored" if self.skipping else "FAILED"
        saves = reject != "-" and not self.options.dry_run
        tail = f" -- saving rejects to file {self.shown(reject)}" if saves else ""
        self.tell(f"{count} out of {total} hunk{'s' if total != 1 else ''} {what}{tail}\n")

    def _keep_original(self, target: str, original: bytes) -> None:
        if self.options.output:
            return
        permissions = self._permissions(target)
        name = target + ".orig"
        try:
            self.ctx.fs.write_bytes(self.ctx.path(name), original, permissions=permissions)
        except OSError as error:
            raise CommandError(
                f"**** Can't rename file {target} to {name} : {error.strerror}", _TROUBLE
            ) from None
        self.ctx.fs.chmod(self.ctx.path(name), permissions)

    def _permissions(self, name: str) -> int:
        """Return the permissions of a file, without set-ID and sticky bits, or of a new one."""
        path = self.ctx.path(name)
        if not self.ctx.fs.exists(path):
            return 0o666 & ~self.ctx.umask
        return self.ctx.fs.stat(path).permissions & 0o777

    def _store(self, name: str, target: str, result: bytes, removed: bool, exists: bool) -> None:
        fs, path = self.ctx.fs, self.ctx.path(target)
        if removed:
            if exists:
                fs.unlink(path)
                self._remove_empty_parents(target)
            return
        parent = posixpath.dirname(path)
        if not fs.is_dir(parent):
            fs.makedirs(parent)
        permissions = self._permissions(name)
        mode = self.patch.git.get(b"new file mode", b"") or self.patch.git.get(b"new mode", b"")
        if mode[-3:].isdigit() and not self.reverse:
            permissions = int(mode[-3:], 8) & ~self.ctx.umask
        if fs.exists(path, follow=False) and fs.stat(path, follow=False).is_link and not self.given:
            message = f"**** File {target} is not a regular file -- refusing to patch"
            raise CommandError(message, _TROUBLE)
        if exists and not permissions & 0o200 and fs.exists(path):
            fs.unlink(path)  # a new file replaces it
        fs.write_bytes(path, result, permissions=permissions)
        fs.chmod(path, permissions)

    def _remove_empty_parents(self, target: str) -> None:
        parent = posixpath.dirname(target)
        while parent and parent != "/":
            try:
                self.ctx.fs.rmdir(self.ctx.path(parent))
            except OSError:
                return
            parent = posixpath.dirname(parent)

    def _save_rejects(self, reject: str) -> None:
        old, new = self.patch.old_header[4:], self.patch.new_header[4:]
        if self.reverse:
            old, new = new, old
        data = b"--- " + (old or b"/dev/null") + b"\n+++ " + (new or b"/dev/null") + b"\n"
        data += b"".join(print_reject(hunk, growth) for hunk, growth in self.failed)
        self.ctx.fs.write_bytes(self.ctx.path(reject), data)

    # other kinds

    def _git_only(self) -> int:
        """Create or delete an empty file: a part of a patch of git without hunks."""
        git, fs = self.patch.git, self.ctx.fs
        fields = git.get(b"diff", b"").split(b" ")
        name = header_name(b"+++ " + fields[-1], max(self.options.strip, 0))
        if name is None:
            return 0
        created = (b"new file mode" in git) != self.reverse
        self.say(f"{self.verb} file {name}\n")
        path = self.ctx.path(name)
        if self.options.dry_run:
            return 0
        if created and not fs.exists(path):
            fs.makedirs(posixpath.dirname(path))
            fs.write_bytes(path, b"")
        elif b"deleted file mode" in git and fs.exists(path):
            fs.unlink(path)
        return 0
