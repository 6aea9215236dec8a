"""`realpath` (GNU coreutils): canonical file names."""

from __future__ import annotations

from agentsandbox.commands._files.canonical import canonicalize, relative_to
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode


@command(
    "realpath",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            canonicalize-existing canonicalize-missing relative-to relative-base quiet
            strip no-symlinks zero logical physical help version
        """,
    ),
    usage="""
    Usage: realpath [OPTION]... FILE...
    Print the absolute path of each FILE, links resolved; all components but the last must exist.

      -e, --canonicalize-existing  all components must exist
      -m, --canonicalize-missing   components may be missing
      -L, --logical                resolve ".." before links
      -P, --physical               resolve links as they come (default)
      -q, --quiet                  no error messages
          --relative-to=DIR        print paths relative to DIR
          --relative-base=DIR      print paths below DIR relative to it, others absolute
      -s, --strip, --no-symlinks   do not resolve links
      -z, --zero                   end each line with NUL, not newline
          --help                   display this help and exit
    """,
)
def realpath(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    resolve = _Resolver(ctx, args)
    base, relative = resolve.bases(args.value("relative-base"), args.value("relative-to"))
    end = "\0" if args.flag("zero") else "\n"
    for name in args.operands:
        ctx.budget.step()
        try:
            path = resolve.resolve(name)
        except OSError as error:
            ctx.status = 1
            if not args.flag("quiet"):
                ctx.warn(describe_os_error(error, shown_name(name)))
            continue
        if relative is not None and (base is None or _is_below(path, base)):
            path = relative_to(path, relative)
        ctx.stdout.write(encode(path + end))
    return ctx.status


class _Resolver:
    """Resolves names as the options say."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        mode = args.last("canonicalize-existing", "canonicalize-missing")
        self.missing = {"canonicalize-existing": "none", "canonicalize-missing": "missing"}.get(
            mode or "", "last"
        )
        style = args.last("logical", "physical", "strip")
        self.logical = style == "logical"
        self.links = style != "strip"

    def resolve(self, name: str) -> str:
        path = name
        if self.logical or not self.links:
            path = canonicalize(self.ctx, name, self.missing, links=False)
        return canonicalize(self.ctx, path, self.missing) if self.links else path

    def bases(self, base: str | None, relative: str | None) -> tuple[str | None, str | None]:
        """Return (base of relative paths, directory that they are relative to)."""
        found_base = None if base is None else self._directory(base)
        found = found_base if relative is None else self._directory(relative)
        if found_base is not None and found is not None and not _is_below(found, found_base):
            return None, None
        return found_base, found

    def _directory(self, name: str) -> str:
        try:
            path = self.resolve(name)
            if self.missing == "none" and not self.ctx.fs.is_dir(path):
                raise NotADirectoryError(20, "Not a directory")
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
        return path


def _is_below(path: str, directory: str) -> bool:
    return directory == "/" or path == directory or path.startswith(f"{directory}/")
