"""Run git's own test scripts in a sandbox, with git's own harness, and count the cases that pass.

    python -m tests.differential.git_suite FOLDER [NAME]... [--failures] [--classes] [--seconds N]
                                           [--counts FILE] [--logs FOLDER] [--before FILE]

FOLDER is an unpacked and compiled source of git 2.39 (Debian: `apt-get source git`, then `make`);
nothing of it goes into this repository. NAME is the beginning of a script's name: "t1", "t7004".
Without names all scripts of t/t1* to t/t7* run that are about subcommands of this git; `ELSEWHERE`
says which are left out, and why.

Each script runs as `sh ./NAME -v`, unchanged, with git's test-lib.sh, at the same path on both
sides: once by real git (the compiled one, cached in FOLDER/sandbox-suite), once in the shell and
with the tools and the git of a new sandbox. What counts is a case ("ok 7 - …") that real git
passes; cases that it skips, or that are known not to pass, have no expectation. A case that the
sandbox does not reach, because its script ended before, has failed.

`--counts FILE` keeps a line for each script (name, cases that pass, all cases, the limit that ended
it); `--before FILE` compares with the counts of an earlier run; `--logs FOLDER` keeps the outputs.

The harness needs programs that a user's machine does not have. They are offered to the sandbox here
and nowhere else: of `test-tool` the parts that change a file's time, measure it, print bytes and
match patterns; `git env--helper`, which reads a boolean; of `perl` the filters of its scripts. Both
sides run without Perl, Python, curl, GnuPG and a terminal, so cases that need these are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentsandbox import Arguments, Command, CommandContext, Limits, Sandbox, command
from agentsandbox.git.patterns import wildmatch
from agentsandbox.kernel.streams import encode

ROOT = "/suite/git"
"""Where the source is, in the sandbox; on the host it is a link's target of another name."""
CASE = re.compile(rb"(?m)^(ok|not ok) (\d+)(?: - ([^\n]*))?$")
INSIDE = re.compile(rb"(not ok|ok) (\d+) - ([^\n]*)")
"""A case after an output that does not end with a newline."""
CASES = "sandbox-suite"

ELSEWHERE = {
    "t1021 t3504 t4200": "rerere",
    "t1092": "sparse index, compared step by step with a full one",
    "t1022 t4067 t5616 t5601p t6421 t0410": "partial clones",
    "t1050 t1051 t4141 t5351 t5608": "files of gigabytes",
    "t1301 t1304": "permissions of shared repositories, access control lists",
    "t1405 t1406 t1407 t1419": "internals of the storage of references",
    "t1600 t1700 t1701 t3008 t7063 t7519 t7527 t5310 t5311 t5318 t5319 t5320 t5322 t5324 t5325 "
    "t5326 t5327 t5328 t5329 t5330 t6113 t6114 t4216 t6600": "caches beside the format",
    "t1800 t5544 t1416": "hooks of programs that are not here",
    "t2080 t2081 t2082": "parallel checkout",
    "t2016 t2071 t3701 t3702 t3904 t7105 t7301 t7514 t4257": "dialogues with a terminal",
    "t3202": "show-branch",
    "t3206": "range-diff",
    "t3435 t3514 t4036 t5534 t5573 t7030 t7031 t7510 t7528 t7612 t6200g": "signatures",
    "t3500": "cherry",
    "t3800": "mktag",
    "t3910": "names of macOS",
    "t4020 t4042 t4030": "external programs for differences",
    "t4069": "remerge-diff",
    "t4211": "log -L",
    "t4300 t4301": "merge-tree",
    "t4204": "patch-id",
    "t4256 t5100": "mailinfo",
    "t5150": "request-pull",
    "t5200": "update-server-info",
    "t5300 t5301 t5302 t5303 t5306 t5308 t5309 t5313 t5314 t5315 t5316 t5317 t5321 t5323 t6500p":
        "pack-objects and index-pack",
    "t5400 t5405 t5408 t5410 t5411 t5500 t5406r t5503r t5530 t5538 t5541 t5542 t5543 t5546 t5547 "
    "t5548r t5555 t5557 t5558 t5559 t5560 t5561 t5562 t5570 t5700 t5701 t5702 t5703 t5704 t5705 "
    "t5750 t5801 t5802 t5810 t5811 t5812 t5813 t5814 t5815 t5539 t5540 t5549 t5550 t5551 t5532 "
    "t5552 t5554 t5581 t5580": "servers, and the protocol between two programs of git",
    "t6030p t6050": "replace",
    "t6060": "merge-index",
    "t6112 t6115": "filters and sizes of objects",
    "t6200": "fmt-merge-msg",
    "t7003 t7008": "filter-branch",
    "t7006": "a pager",
    "t7513": "interpret-trailers",
    "t7609 t7610 t7800": "merge and diff tools",
    "t7700 t7701 t7702 t7703": "repack",
    "t7811": "grep -O",
    "t7900": "maintenance",
    "t3302 t3307": "performance, manual pages",
    "t4013": "the output of diff-tree by a driver of its own",
}  # fmt: skip
"""Scripts that are left out, by the beginnings of their names, and what they are about."""

CLASSES = {
    r"git: '[\w-]+' is not (?:a git command|available)": "a subcommand that is not here",
    r"test-tool: ([\w-]+) is not offered": "a part of test-tool",
    r"perl: ": "perl",
    r"(?:unknown option|unknown switch|unrecognized argument|invalid option)": "an unknown option",
    r"is not supported": "refused by name",
    r"^[-+](?![-+])": "another output or text",
    r"command not found": "a program that is not here",
    r"(?:syntax error|unexpected)": "syntax",
    r"^test_(?:must_fail|expect_code)": "another status",
}
"""Why a case failed, by the first pattern that its output matches."""


@command("test-tool", raw=True, usage="Usage: test-tool PART [ARGUMENT]...\nHelp git's tests.\n")
def test_tool(ctx: CommandContext, args: Arguments) -> int:
    """The parts of git's t/helper/test-tool that its scripts need most."""
    name, *words = ctx.words or [""]
    part = PARTS.get(name)
    if part is None:
        ctx.stderr.write(encode(f"test-tool: {name} is not offered\n"))
        return 127
    return part(ctx, words)


def change_times(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool chmtime [--get | -v] [[=]SECONDS] FILE...`"""
    shows, number = "", None
    while words and re.fullmatch(r"--get|-g|-v|--verbose|=?[-+]?\d+", words[0]):
        word = words.pop(0)
        if word.startswith("-") and not word[1:].isdigit():
            shows = "get" if word in ("--get", "-g") else "verbose"
        elif number is None:
            number = word
            if not (words and re.fullmatch(r"--get|-g|-v|--verbose", words[0])):
                break
    for word in words:
        path = ctx.path(word)
        now = int(ctx.fs.stat(path).mtime)
        if number is not None:
            base = 0
            text = number
            if text.startswith("="):
                text = text[1:]
                base = int(ctx.host.clock()) if text[:1] in "+-" else 0
            else:
                base = now
            now = base + int(text)
            ctx.fs.utime(path, now)
        if shows:
            ctx.print(str(now) if shows == "get" else f"{now}\t{word}")
    return 0


def measure(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool path-utils file-size FILE...` and others."""
    kind, *names = words
    if kind == "file-size":
        for name in names:
            ctx.print(str(ctx.fs.stat(ctx.path(name)).size))
        return 0
    if kind == "skip-n-bytes":
        ctx.stdout.write(ctx.fs.read_bytes(ctx.path(names[0]))[int(names[1]) :])
        return 0
    ctx.stderr.write(encode(f"test-tool: path-utils {kind} is not offered\n"))
    return 127


def print_random(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool genrandom SEED [SIZE]`: the numbers of a linear congruence."""
    state = 0
    for byte in encode(words[0]) + b"\0":
        state = (state * 11 + byte) & 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    for _ in range(int(words[1]) if len(words) > 1 else 1 << 20):
        state = (state * 1103515245 + 12345) & 0xFFFFFFFFFFFFFFFF
        out.append((state >> 16) & 0xFF)
        ctx.budget.step()
    ctx.stdout.write(bytes(out))
    return 0


def print_zeros(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool genzeros SIZE`."""
    ctx.budget.charge(int(words[0]))
    ctx.stdout.write(bytes(int(words[0])))
    return 0


def print_bytes(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool hexdump < FILE`."""
    ctx.print("".join([f"{byte:02x} " for byte in ctx.stdin.read()]))
    return 0


def print_directory(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool getcwd`."""
    ctx.print(ctx.fs.realpath(ctx.cwd))
    return 0


def answer_date(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool date is64bit` and `time_t-is64bit`: yes."""
    return 0 if words and words[0].endswith("is64bit") else 127


def match_pattern(ctx: CommandContext, words: list[str]) -> int:
    """`test-tool wildmatch (wildmatch | iwildmatch | pathmatch | ipathmatch) TEXT PATTERN`."""
    kind, text, pattern = words
    found = wildmatch(
        encode(pattern.removeprefix("XXX")),
        encode(text.removeprefix("XXX")),
        ignore_case=kind.startswith("i"),
        pathname=kind.endswith("wildmatch"),
    )
    return 0 if found else 1


PARTS = {
    "chmtime": change_times,
    "date": answer_date,
    "genrandom": print_random,
    "genzeros": print_zeros,
    "getcwd": print_directory,
    "hexdump": print_bytes,
    "path-utils": measure,
    "wildmatch": match_pattern,
}


@command("perl", raw=True, usage="Usage: perl -pe PROGRAM [FILE]...\nGit's small filters.\n")
def perl(ctx: CommandContext, args: Arguments) -> int:
    """The few filters that git's harness, and the sanitizers of its tests, write in Perl."""
    options, program, names = "", "", []
    if len(ctx.words) > 1:
        options, program, *names = ctx.words
    exchange = re.fullmatch(r"y/(\\\d{3}|[^\\/])/(\\\d{3}|[^\\/])/", program)
    filters = FILTERS.get((options, " ".join(program.split())))
    if options == "-pe" and exchange is not None:
        one, two = (
            bytes([int(part[1:], 8)]) if len(part) > 1 else encode(part)
            for part in exchange.groups()
        )
        filters = lambda data: data.replace(one, two)  # noqa: E731
    if filters is None:
        ctx.stderr.write(b"perl: is not offered\n")
        return 127
    for _, source in ctx.inputs(names):
        ctx.stdout.write(filters(source.read()))
    return 0


def without_signature(data: bytes) -> bytes:
    """Return a text without the lines of a signature (t6300)."""
    found, inside = [], False
    for line in data.splitlines(keepends=True):
        inside = inside and not line.startswith(b"-----END PGP")
        if not inside:
            found.append(line)
        inside = inside or line.startswith(b"-----BEGIN PGP")
    return b"".join(found)


def as_name(data: bytes) -> bytes:
    """Return descriptions as names of files (lib-t6000.sh)."""
    names = []
    for line in data.splitlines(keepends=True):
        text = re.sub(rb"-+", b"-", re.sub(rb"[^A-Za-z0-9.]", b"-", line))
        names.append(text.removesuffix(b"-").removeprefix(b"-").lower())
    return b"".join(names)


FILTERS: dict[tuple[str, str], Callable[[bytes], bytes]] = {
    (
        "-ne",
        "/^-----END PGP/ and $in_pgp = 0; print unless $in_pgp; /^-----BEGIN PGP/ and $in_pgp = 1;",
    ): without_signature,
    ("-pe", "s/[^A-Za-z0-9.]/-/g; s/-+/-/g; s/-$//; s/^-//; y/A-Z/a-z/;"): as_name,
    ("-0pe", r"s/\n\s+/ /g"): lambda data: re.sub(rb"\n\s+", b" ", data),
    ("-ne", r'printf "\\%03o", hex for /../g'): lambda data: b"".join(
        b"\\%03o" % byte for byte in bytes.fromhex(data.decode())
    ),
}
"""The programs of Perl, by options and text."""


@command("git", raw=True, usage="Usage: git [WORD]...\nThe sandbox's git, with env--helper.\n")
def git(ctx: CommandContext, args: Arguments) -> int:
    """The sandbox's git; `git env--helper --type=bool` is answered here."""
    from agentsandbox.git.command import run

    if not ctx.words or ctx.words[0] != "env--helper":
        return run(ctx)
    default = next((word[10:] for word in ctx.words if word.startswith("--default=")), "false")
    value = ctx.env.get(ctx.words[-1], default).lower()
    is_true = value not in ("", "0", "false", "no", "off")
    if "--exit-code" not in ctx.words:
        ctx.print("true" if is_true else "false")
    return 0 if is_true else 1


OWN: list[Command] = [test_tool, perl, git]


def build_options(shell: str) -> str:
    """Return the text of GIT-BUILD-OPTIONS: what both sides have and have not."""
    have = {"SHELL_PATH": shell, "TEST_SHELL_PATH": shell, "PERL_PATH": "perl", "DIFF": "diff",
            "PYTHON_PATH": "python3", "TAR": "tar", "X": ""}  # fmt: skip
    absent = "CURL EXPAT GETTEXT PERL PYTHON UNIX_SOCKETS"
    lines = [f"{name}='{value}'" for name, value in have.items()]
    lines += [f"NO_{name}='1'" for name in absent.split()]
    lines += ["USE_LIBPCRE2=''", "NO_PTHREADS=''", "GIT_INTEROP_MAKE_OPTS=''"]
    return "\n".join(lines) + "\n"


def variables(root: str, git_folder: str) -> dict[str, str]:
    """Return the environment of a script."""
    return {
        "PATH": f"{root}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{root}/home",
        "TMPDIR": "/tmp",
        "LC_ALL": "C",
        "LANG": "C",
        "TZ": "UTC",
        "TERM": "dumb",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "GIT_TEST_CHAIN_LINT": "0",
        "GIT_TEST_INSTALLED": git_folder,
        "TEST_NO_MALLOC_CHECK": "1",
        "TEST_OUTPUT_DIRECTORY": f"{root}/out",
    }


def scripts(source: Path, chosen: list[str]) -> list[str]:
    """Return the names of the scripts to run."""
    absent = {mark for marks in ELSEWHERE for mark in marks.split()}
    names = [path.name for path in sorted((source / "t").glob("t[1-7]*.sh"))]
    if chosen:
        return [name for name in names if name.startswith(tuple(chosen))]
    return [name for name in names if name[:5] not in absent]


# what real git does


def in_git(source: Path, name: str, seconds: float) -> dict[str, str] | None:
    """Return the cases that real git passes: number → title; None if it does not end in time."""
    with tempfile.TemporaryDirectory(prefix="git-suite-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        for part in ("home", "out", "bin"):
            (root / part).mkdir()
        for program in ("gpg", "gpgsm", "ssh-keygen"):  # the sandbox has none of these
            (root / "bin" / program).write_text("#!/bin/sh\nexit 127\n")
            (root / "bin" / program).chmod(0o755)
        try:
            ran = subprocess.run(
                ["sh", f"./{name}"],
                cwd=source / "t", capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds,
                env={**variables(str(root), str(source / "bin-wrappers")),
                     "GIT_TEST_EXEC_PATH": str(source)},
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
    return passed(ran.stdout)


def passed(output: bytes) -> dict[str, str]:
    """Return the cases that passed, and were not skipped or known to be broken."""
    return {
        found[2].decode(): (found[3] or b"").decode(errors="replace")
        for found in CASE.finditer(output)
        if found[1] == b"ok" and b"# skip" not in (found[3] or b"") and b"# TODO" not in found[0]
    }


def expectations(source: Path, names: list[str], seconds: float) -> dict[str, dict[str, str]]:
    """Return the cases of each script that real git passes, from the cache if they are there."""
    cache = source / CASES
    cache.mkdir(exist_ok=True)
    known: dict[str, dict[str, str]] = {}
    for name in names:
        place = cache / f"{name}.json"
        if not place.exists():
            cases = in_git(source, name, seconds)
            if cases is None:
                sys.exit(f"real git needs more than {seconds:g} s for {name}: see --seconds")
            place.write_text(json.dumps(cases, indent=1))
        known[name] = json.loads(place.read_text())
    return known


# what the sandbox does


def base_sandbox(source: Path) -> Sandbox:
    """Return a sandbox with git's tests, to be forked for each script."""
    limits = Limits(timeout=3600, steps=2_000_000_000, total_bytes=512 << 20, output_bytes=64 << 20)
    sandbox = Sandbox(
        user="agent",
        commands=OWN,
        limits=limits,
        jobs="kill",
        script_errexit="never",
        cwd="/suite",
    )
    files = sandbox.files
    left_out = ["perf", "helper", "test-results", "trash directory.*", "chainlint"]
    files.import_folder(source / "t", f"{ROOT}/t", ignore=left_out)
    files.import_folder(source / "templates" / "blt", f"{ROOT}/templates/blt")
    for folder in ("bin", "home", "out", "git/t/helper"):
        files.mkdir(f"/suite/{folder}")
    files.write(f"{ROOT}/COPYING", (source / "COPYING").read_bytes())
    files.write(f"{ROOT}/GIT-BUILD-OPTIONS", build_options("/bin/sh"))
    files.write(
        f"{ROOT}/t/helper/test-tool", '#!/bin/sh\nexec /usr/bin/test-tool "$@"\n', mode=0o755
    )
    return sandbox


def in_sandbox(base: Sandbox, name: str, seconds: float) -> tuple[bytes, str | None]:
    """Return the output of a script, and the limit that ended it."""
    words = " ".join(f"{key}={value}" for key, value in variables("/suite", "/usr/bin").items())
    script = f"cd {ROOT}/t; exec env -i {words} sh ./{name} -v < /dev/null > /suite/log 2>&1"
    with base.fork() as sandbox:
        result = sandbox.execute(script, timeout=seconds)
        out = sandbox.fs.read_bytes("/suite/log")
        return out + result.stderr_bytes, result.limit


def segments(output: bytes, titles: dict[str, str]) -> dict[str, tuple[bool, str, str]]:
    """Return (whether it passed, title, output) of each case by number.

    titles  of the cases that are wanted; such a case is also found inside a line
    """
    cases = list(CASE.finditer(output))
    cases += [
        case
        for case in INSIDE.finditer(output)
        if output[case.start() - 1 : case.start()] != b"\n"
        and titles.get(case[2].decode()) == case[3].decode(errors="replace")
        and not output[: case.start()].endswith(b"not ")
    ]
    found: dict[str, tuple[bool, str, str]] = {}
    at = 0
    for case in sorted(cases, key=lambda case: case.start()):
        text = output[at : case.start()].decode(errors="replace")
        title = (case[3] or b"").decode(errors="replace")
        found[case[2].decode()] = (case[1] == b"ok", title, text)
        at = case.end()
    return found


def class_of(text: str) -> str:
    """Return why a case failed, as far as its output tells."""
    for pattern, name in CLASSES.items():
        found = re.search(f"(?m){pattern}", text)
        if found:
            return name
    return "no message"


@dataclass
class Count:
    """What a script has come to: the cases that pass, all cases, the limit that ended it."""

    right: int
    wanted: int
    limit: str = ""


def write_counts(place: Path, counts: dict[str, Count]) -> None:
    """Write a line for each script: its name and the three values of its count."""
    rows = [
        f"{name}\t{count.right}\t{count.wanted}\t{count.limit}" for name, count in counts.items()
    ]
    place.write_text("\n".join(rows) + "\n")


def read_counts(place: Path) -> dict[str, Count]:
    """Return the counts of an earlier run."""
    rows = [line.split("\t") for line in place.read_text().splitlines()]
    return {name: Count(int(right), int(wanted), limit) for name, right, wanted, limit in rows}


def compare(before: dict[str, Count], counts: dict[str, Count]) -> None:
    """Print the scripts whose number of passing cases has changed, and the sums of both runs."""
    both = [name for name in counts if name in before]
    for name in both:
        old, new = before[name], counts[name]
        if old.right != new.right:
            print(f"{name:48}{old.right:4} -> {new.right:4} of {new.wanted:4}")
    old_sum, new_sum = (sum(run[name].right for name in both) for run in (before, counts))
    print(f"{old_sum} -> {new_sum} cases in the {len(both)} scripts of both runs")


def main() -> int:
    """The command line; 0, or 2 for a folder that is not a compiled git."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.git_suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the beginning of a script's name")
    parser.add_argument("--failures", action="store_true", help="show the output of what failed")
    parser.add_argument("--classes", action="store_true", help="name the class of each failure")
    parser.add_argument("--expect", action="store_true", help="only run real git")
    parser.add_argument("--seconds", type=float, default=300, help="the time of one script")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="where to keep the counts")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="where to keep the outputs")
    parser.add_argument("--before", type=Path, metavar="FILE", help="the counts of a run before")
    options = parser.parse_args()
    source: Path = options.folder.resolve()
    if not (source / "t" / "helper" / "test-tool").exists():
        print(f"{source} is not a compiled source of git")
        return 2
    (source / "GIT-BUILD-OPTIONS").write_text(build_options("/bin/sh"))
    names = scripts(source, options.names)
    expected = expectations(source, names, 2 * options.seconds)
    if options.expect:
        print(f"{sum(map(len, expected.values()))} cases in {len(expected)} scripts")
        return 0
    counts, classes = run_all(base_sandbox(source), expected, options)
    for kind, cases_of in sorted(classes.items(), key=lambda pair: -len(pair[1])):
        shown = " ".join(cases_of) if options.classes else ""
        print(f"{len(cases_of):5}  {kind}  {shown}")
    if options.before:
        compare(read_counts(options.before), counts)
    total = sum(count.wanted for count in counts.values())
    right = sum(count.right for count in counts.values())
    share = 100 * right / max(1, total)
    print(f"{right} of {total} cases in {len(names)} scripts pass: {share:.1f} %")
    return 0


def run_all(
    base: Sandbox, expected: dict[str, dict[str, str]], options: argparse.Namespace
) -> tuple[dict[str, Count], dict[str, list[str]]]:
    """Run the scripts; return the count of each, and the cases that fail by their classes."""
    counts: dict[str, Count] = {}
    classes: dict[str, list[str]] = defaultdict(list)
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
    for name, cases in expected.items():
        output, limit = in_sandbox(base, name, options.seconds)
        if options.logs:
            (options.logs / name).write_bytes(output)
        found = segments(output, cases)
        good = [number for number in cases if found.get(number, (False,))[0]]
        counts[name] = Count(len(good), len(cases), limit or "")
        for number, title in cases.items():
            passes, _, text = found.get(number, (False, title, ""))
            if passes:
                continue
            kind = class_of(text) if number in found else f"not reached ({limit or 'it ended'})"
            classes[kind].append(f"{name[:5]}.{number}")
            if options.failures and number in found:
                print(f"==== {name} {number} - {title}\n{text.rstrip()}\n", flush=True)
        if options.failures and not output[-2000:].rstrip()[-1:].isdigit():
            print(f"==== {name} ended so:\n{output[-1500:].decode(errors='replace')}\n")
        print(f"{name:48}{len(good):4} of {len(cases):4} {limit or ''}", flush=True)
        if options.counts:
            write_counts(options.counts, counts)
    return counts, classes


if __name__ == "__main__":
    sys.exit(main())
