"""`df` (POSIX, GNU coreutils): free space of the sandbox's one filesystem."""

from __future__ import annotations

from agentsandbox.commands._files.block_sizes import SizeFormat, block_size_from, parse_block_size
from agentsandbox.commands._files.space import Space
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

_SOURCE, _TYPE = "sandbox", "ext4"
_HEADERS = {
    "source": "Filesystem", "fstype": "Type", "itotal": "Inodes", "iused": "IUsed",
    "iavail": "IFree", "ipcent": "IUse%", "size": "1K-blocks", "used": "Used",
    "avail": "Available", "pcent": "Use%", "file": "File", "target": "Mounted on",
}  # fmt: skip
_NARROWEST = {"source": 14, "fstype": 4, "target": 0, "file": 0, "pcent": 4, "ipcent": 4}
_LEFT = frozenset(("source", "fstype", "target", "file"))


def _fields(text: str) -> list[str]:
    fields = text.split(",")
    for number, field in enumerate(fields):
        if field not in _HEADERS:
            raise UsageError(f"option --output: field {quote(field)} unknown")
        if field in fields[:number]:
            raise UsageError(f"option --output: field {quote(field)} used more than once")
    return fields


@command(
    "df",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            all block-size inodes human-readable si local output portability print-type
            sync no-sync total type exclude-type help version
        """,
    ),
    values={
        "-block-size": lambda text: parse_block_size(text, "-B"),
        "block-size": lambda text: parse_block_size(text, "--block-size"),
        "output": _fields,
    },
    usage="""
    Usage: df [OPTION]... [FILE]...
    Print the room on the filesystem of each FILE, or on all.

      -a, --all             include dummy filesystems
      -B, --block-size=SIZE sizes in units of SIZE
      -h, --human-readable  sizes like 1K 234M 2G
      -H, --si              the same by powers of 1000
      -i, --inodes          inodes, not blocks
      -k                    same as --block-size=1K
      -m                    same as --block-size=1M
      -l, --local           only local filesystems
      -v                    (ignored, as there)
          --no-sync         do not sync first (default)
          --output[=FIELDS] the columns FIELDS, or all of them
      -P, --portability     the output format of POSIX
          --sync            sync first
          --total           add a line with the totals
      -t, --type=TYPE       only filesystems of TYPE
      -T, --print-type      show the type
      -x, --exclude-type=TYPE  leave filesystems of TYPE out
          --help            display this help and exit
    """,
)
def df(ctx: CommandContext, args: Arguments) -> int:
    sizes = _choose_sizes(ctx, args)
    fields = _choose_fields(args)
    space = Space(ctx)
    wanted = args.values("type")
    for kind in wanted:
        if kind in args.values("exclude-type"):
            raise CommandError(f"file system type {quote(kind)} both selected and excluded")
    shown = (not wanted or _TYPE in wanted) and _TYPE not in args.values("exclude-type")
    rows: list[dict[str, str]] = []
    for name in args.operands or ["-"]:
        if args.operands:
            try:
                ctx.fs.stat(ctx.path(name))
            except OSError as error:
                ctx.warn(describe_os_error(error, shown_name(name)))
                continue
        if shown:
            rows.append(_row(space, sizes, _SOURCE, "/", name))
    if not rows:
        if not ctx.status:
            raise CommandError("no file systems processed")
        return ctx.status
    if args.flag("total"):
        rows.append(_row(space, sizes, "total", "-" if "source" in fields else "total", "-"))
    headers = dict(_HEADERS)
    headers["size"] = _size_header(sizes, portable=args.flag("portability"))
    if sizes.human or args.flag("output"):
        headers["avail"] = "Avail"
    if args.flag("portability") and not sizes.human:
        headers["pcent"] = "Capacity"
    _print(ctx, fields, [headers, *rows])
    return ctx.status


def _choose_sizes(ctx: CommandContext, args: Arguments) -> SizeFormat:
    given = args.last("human-readable", "si", "block-size", "k", "m")
    if given in ("human-readable", "si"):
        return SizeFormat(human=True, base=1000 if given == "si" else 1024)
    if given == "block-size":
        return parse_block_size(args.value("block-size") or "", "--block-size")
    if given == "m":
        return SizeFormat(1 << 20)
    from_env = None if given == "k" else block_size_from(ctx.env, "DF_BLOCK_SIZE")
    return from_env or SizeFormat(1024)


def _choose_fields(args: Arguments) -> list[str]:
    if args.flag("output"):
        for key, letter in (("inodes", "i"), ("portability", "P"), ("print-type", "T")):
            if args.flag(key):
                raise UsageError(f"options -{letter} and --output are mutually exclusive")
        texts = [value for key, value in args.given if key == "output" and value is not None]
        if not texts:
            return list(_HEADERS)
        return _fields(",".join(texts))
    middle = ["size", "used", "avail", "pcent"]
    if args.flag("inodes"):
        middle = ["itotal", "iused", "iavail", "ipcent"]
    return ["source", *(["fstype"] if args.flag("print-type") else []), *middle, "target"]


def _size_header(sizes: SizeFormat, *, portable: bool) -> str:
    if sizes.human:
        return "Size"
    if portable:
        return f"{sizes.unit}-blocks"
    if sizes.suffix.endswith("iB"):
        return f"1{sizes.suffix}-blocks"
    for base, suffix in ((1024, ""), (1000, "B")):
        unit, power = sizes.unit, 0
        while unit % base == 0 and power < 8:
            unit //= base
            power += 1
        if power and unit < base:
            letter = "KMGTPEZY"[power - 1]
            return f"{unit}{letter.lower() if suffix and letter == 'K' else letter}{suffix}-blocks"
    return f"{sizes.unit}B-blocks"


def _row(space: Space, sizes: SizeFormat, source: str, target: str, name: str) -> dict[str, str]:
    return {
        "source": source,
        "fstype": "-" if source == "total" else _TYPE,
        "itotal": str(space.files),
        "iused": str(space.used_files),
        "iavail": str(space.free_files),
        "ipcent": _percent(space.used_files, space.files),
        "size": sizes.show(space.total),
        "used": sizes.show(space.used),
        "avail": sizes.show(space.free),
        "pcent": _percent(space.used, space.total),
        "file": name,
        "target": target,
    }


def _percent(used: int, total: int) -> str:
    return f"{-(-100 * used // total)}%" if total else "-"


def _print(ctx: CommandContext, fields: list[str], rows: list[dict[str, str]]) -> None:
    widths = [max(_NARROWEST.get(field, 5), *(len(row[field]) for row in rows)) for field in fields]
    for row in rows:
        ctx.budget.step()
        columns = zip(fields, widths, strict=True)
        cells = [
            row[field].ljust(width) if field in _LEFT else row[field].rjust(width)
            for field, width in columns
        ]
        if fields[-1] in _LEFT:
            cells[-1] = row[fields[-1]]
        ctx.stdout.write(encode(" ".join(cells) + "\n"))
