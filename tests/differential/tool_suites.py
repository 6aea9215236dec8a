"""Run the test scripts of GNU coreutils or GNU tar in a sandbox, and count what fails and why.

    python -m tests.differential.tool_suites FOLDER [NAME]... [--real] [--failures] [--logs FOLDER]

FOLDER is an unpacked source of coreutils 9.1 or tar 1.34 (Debian: `apt-get source coreutils tar`);
nothing of it goes into this repository. Of coreutils each `tests/*/*.sh` runs by itself, with the
suite's own `init.sh`; tests in Perl are left out. Of tar each group of `tests/testsuite` runs with
the few functions of Autotest that groups call, written here, and for GNU's format only, as the
sandbox writes no other. NAME is a part of the names to run.

The C programs that the suites build for themselves are shell scripts here: coreutils' `getlimits`,
and tar's `genfile` as far as files of a length and a pattern, lists of names and `--stat` go.

A test passes, fails or is skipped (status 77) by its own judgment. With --real it also runs with
the tools of this machine, as the user of a sandbox, and what does not pass there is not counted.
Failures are sorted into classes by what the log says; the first class that fits counts.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from agentsandbox import Limits, Sandbox

SECONDS = 20
"""The time of one test."""
ROOT = "/tmp/suite"
"""The place of the suite in a sandbox."""
USER = 1000
"""The user of tests on this machine if root runs them."""

CLASSES = (
    (
        "option left out",
        (
            r"unrecognized option|(invalid|unknown) option|not supported|not available|"
            r"invalid (conversion|(input|output) flag)"
        ),
    ),
    ("command left out", r"command not found|: not found"),
    ("a program of the suite", r"genfile: |getlimits|ckmtime|checkseekhole"),
    ("took too long", r"^timeout$"),
    ("a limit", r"stopped by the limit"),
    ("/proc, /dev, /sys", r"/proc/|/dev/(?!null)|/sys/"),
    ("signals and processes", r"\bkill\b|signal|SIG[A-Z]+|\bstrace\b"),
    ("permissions", r"Permission denied|Operation not permitted"),
)
OTHER = "result differs"

GETLIMITS = r"""#!/bin/bash
show() { echo "$1=$2"; }
show CHAR_MAX 127; show CHAR_MIN -128; show SCHAR_MAX 127; show SCHAR_MIN -128; show UCHAR_MAX 255
show UCHAR_OFLOW 256; show SHRT_MAX 32767; show SHRT_MIN -32768; show USHRT_MAX 65535
show INT_MAX 2147483647; show INT_MIN -2147483648; show INT_OFLOW 2147483648
show INT_UFLOW -2147483649; show UINT_MAX 4294967295; show UINT_OFLOW 4294967296
for type in LONG SSIZE TIME_T OFF_T OFF64_T INTMAX PTRDIFF; do
    show ${type}_MAX 9223372036854775807; show ${type}_MIN -9223372036854775808
    show ${type}_OFLOW 9223372036854775808; show ${type}_UFLOW -9223372036854775809
done
for type in ULONG SIZE UINTMAX; do
    show ${type}_MAX 18446744073709551615; show ${type}_OFLOW 18446744073709551616
done
show UID_T_MAX 4294967295; show UID_T_OFLOW 4294967296; show GID_T_MAX 4294967295
show GID_T_OFLOW 4294967296; show PID_T_MAX 2147483647; show FLT_MIN 1.175494e-38
show FLT_MAX 3.402823e+38; show DBL_MIN 2.225074e-308; show DBL_MAX 1.797693e+308
show LDBL_MIN 3.362103e-4932; show LDBL_MAX 1.189731e+4932
show IO_BUFSIZE 131072
"""

GENFILE = r"""#!/bin/bash
length=0 file= pattern=default names= nul= stat= modified=
fail() { echo "genfile: $*" >&2; exit 1; }
number() {
    case $1 in
    *[kK]) echo $((${1%?} * 1024)) ;;
    *[mM]) echo $((${1%?} * 1048576)) ;;
    *[gG]) echo $((${1%?} * 1073741824)) ;;
    *) echo $(($1)) ;;
    esac
}
operands=()
while [ $# -gt 0 ]; do
    case $1 in
    -l | --length) length=$(number "$2"); shift ;;
    --length=*) length=$(number "${1#*=}") ;;
    -l*) length=$(number "${1#-l}") ;;
    -f | --file) file=$2; shift ;;
    --file=*) file=${1#*=} ;;
    -p | --pattern) pattern=$2; shift ;;
    --pattern=*) pattern=${1#*=} ;;
    -T | --files-from) names=$2; shift ;;
    --files-from=*) names=${1#*=} ;;
    -0 | --null) nul=1 ;;
    -S | --stat) stat=name,dev,ino,mode,nlink,uid,gid,size,blksize,blocks,atime,mtime,ctime ;;
    --stat=*) stat=${1#*=} ;;
    -*) fail "$1 is not here" ;;
    *) operands+=("$1") ;;
    esac
    shift
done
content() {
    local left=$1 octal piece= at
    case $pattern in
    zeros) head -c "$left" /dev/zero; return ;;
    default) ;;
    *) fail "pattern $pattern is not here" ;;
    esac
    for ((at = 0; at < 256; at++)); do
        printf -v octal '\\%03o' $at
        piece+=$octal
    done
    while ((left >= 256)); do
        printf "$piece"
        ((left -= 256))
    done
    printf "$piece" | head -c "$left"
}
if [ -n "$stat" ]; then
    for name in "${operands[@]}"; do
        IFS=, read -ra fields <<< "$stat"
        for field in "${fields[@]}"; do
            case $field in
            name) printf '%s' "$name" ;;
            size) stat -c %s -- "$name" | tr -d '\n' ;;
            mode) printf '0%s' "$(stat -c %a -- "$name")" ;;
            mode.[0-7]*) printf '%o' $((0$(stat -c %a -- "$name") & 0${field#mode.})) ;;
            mtime | mtimeH) stat -c %Y -- "$name" | tr -d '\n' ;;
            atime) stat -c %X -- "$name" | tr -d '\n' ;;
            uid) stat -c %u -- "$name" | tr -d '\n' ;;
            gid) stat -c %g -- "$name" | tr -d '\n' ;;
            nlink) stat -c %h -- "$name" | tr -d '\n' ;;
            *) fail "field $field is not here" ;;
            esac
            [ "$field" = "${fields[-1]}" ] && echo || printf ' '
        done
    done
    exit
fi
if [ -n "$names" ]; then
    [ "$names" = - ] || exec < "$names"
    while IFS= read -r ${nul:+-d ''} name; do content "$length" > "$name"; done
    exit
fi
if [ -n "$file" ]; then content "$length" > "$file"; else content "$length"; fi
"""

AUTOTEST = r"""
at_srcdir=. at_diff=diff at_devnull=/dev/null at_tee_pipe=cat at_times_p=false at_traceon=:
at_traceoff=: at_check_filter=: at_check_trace=: at_failed=false at_status=0 at_verbose=:
as_echo='printf %s\n' as_echo_n='printf %s' at_keep_files=false at_errexit_p=false
abs_builddir=$SUITE abs_top_builddir=$SUITE abs_srcdir=$SUITE top_srcdir=$SUITE srcdir=$SUITE
at_group_dir=$SUITE/group at_stdout=$SUITE/at-stdout at_stderr=$SUITE/at-stderr
at_status_file=$SUITE/at-status XFAILFILE=$SUITE/.badversion at_times_file=$SUITE/at-times
STAR_TESTSCRIPTS= TEST_DATA_DIR= TAR=tar TAR_OPTIONS= at_stder1=$SUITE/at-stder1
export TAR_OPTIONS
at_fn_group_banner() { at_desc=$3 at_setup_line=$2; }
at_fn_check_prepare_notrace() { at_check_trace=: at_check_filter=: ; : > "$at_stdout"; : > "$at_stderr"; }
at_fn_check_prepare_trace() { at_fn_check_prepare_notrace; }
at_fn_check_prepare_dynamic() { at_fn_check_prepare_notrace; }
at_fn_diff_devnull() { test ! -s "$1" || { echo "unexpected standard error:"; cat "$1"; return 1; }; }
at_fn_check_skip() { echo "$1" > "$at_status_file"; exit "$1"; }
at_fn_check_status() {
    test "$2" = "$1" && return
    case $2 in
    77) echo 77 > "$at_status_file"; exit 77 ;;
    99) echo 99 > "$at_status_file"; at_failed=: ;;
    esac
    echo "$3: exit status is $2, not $1"
    at_failed=:
}
at_fn_log_failure() {
    for file in "$at_stdout" "$at_stderr"; do sed 's/^/> /' "$file"; done
    echo 1 > "$at_status_file"
    exit 1
}
decho() { echo $*; echo >&2 $*; }
tarball_prereq() { false; }
mkexcltest() {
    mkdir $1 $1/subdir
    genfile --file=$1/top-level-file
    genfile --file=$1/subdir/excludeme
    genfile --file=$1/subdir/subdir-file
}
mkdir "$at_group_dir" && cd "$at_group_dir" || exit 99
echo 0 > "$at_status_file"
"""
"""The functions and variables of Autotest, and of tar's atlocal, that a group uses."""

COREUTILS = r"""
cd "$SUITE" || exit 99
. ./tests/lang-default
unset LS_COLORS POSIXLY_CORRECT TERM
export srcdir=. top_srcdir=. abs_top_srcdir=$SUITE abs_srcdir=$SUITE abs_top_builddir=$SUITE
export VERSION=9.1 PACKAGE_VERSION=9.1 LOCALE_FR=none LOCALE_FR_UTF8=none fail=0 EXEEXT=
export host_os=linux-gnu host_triplet=x86_64-pc-linux-gnu CONFIG_HEADER=$SUITE/config.h
export AWK=awk EGREP='grep -E' PERL=perl MAKE=make CC=cc SHELL=/bin/bash TMPDIR=$SUITE/tmp
export CU_TEST_NAME=$1 PATH=$SUITE/src:$PATH
exec bash "$1" 9>&2
"""


@dataclass
class Test:
    """A test: its name, its class, and the script that runs it with its name as "$1"."""

    name: str
    kind: str
    script: str


def coreutils_tests(folder: Path) -> list[Test]:
    """Return the shell tests of coreutils."""
    found = sorted(
        path for path in (folder / "tests").glob("*/*.sh") if path.parent.name != "factor"
    )
    names = [path.relative_to(folder).as_posix() for path in found]
    return [Test(name, name.split("/")[1], COREUTILS) for name in names]


def tar_tests(folder: Path) -> list[Test]:
    """Return the groups of tar's test suite."""
    text = (folder / "tests" / "testsuite").read_text(encoding="utf-8", errors="surrogateescape")
    tests: list[Test] = []
    for found in re.finditer(r"(?ms)^#AT_START_(\d+)\n(.*?)^#AT_STOP_\1$", text):
        described = re.search(r"at_fn_group_banner \d+ '(\S+):\d+' \\\n\s*\"(.*?)\"", found[2])
        file, title = (described[1], described[2].strip()) if described else ("", "")
        name = title.partition(":")[0] if file == "testsuite.at" else file.removesuffix(".at")
        kind = re.sub(r"[^A-Za-z].*", "", name)
        script = f"{AUTOTEST}{only_gnu(found[2])}\nexit $at_status\n"
        tests.append(Test(f"{found[1]} {file} {title}", kind, script))
    return tests


def only_gnu(group: str) -> str:
    """Return a group that checks GNU's format only, the default, of those it is repeated for."""
    checks = re.split(r"(?m)^(?=[ \t]*\{ set \+x$)", group)
    kept, keeps = [], True
    for check in checks:
        format = re.search(r'TAR_OPTIONS="-H (\w+)"', check)
        keeps = keeps if format is None else format[1] == "gnu"  # what follows looks at its output
        if keeps:
            kept.append(check)
    if len(kept) == 1 < len(checks):
        kept.append("echo 77 > $at_status_file; exit 77\n")
    if not keeps:
        kept.append(checks[-1].rpartition("$at_traceon; }")[2])
    return "".join(kept).replace('TAR_OPTIONS="-H gnu"', "TAR_OPTIONS=")


def files_of(folder: Path, *, tar: bool) -> dict[str, bytes]:
    """Return what stands in the place of the suite, by path; executable all."""
    if tar:
        return {
            "bin/genfile": GENFILE.encode(),
            "bin/install-sh": b'#!/bin/sh\nexec install "$@"\n',
        }
    chosen = [folder / "init.cfg", *(folder / "tests").rglob("*")]
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in chosen if path.is_file()
    }
    return files | {"src/getlimits": GETLIMITS.encode(), "config.h": b"", "tmp/.keep": b""}


def environment(root: str) -> dict[str, str]:
    """Return the variables of a test."""
    path = f"{root}/bin:/usr/local/bin:/usr/bin:/bin"
    return {"SUITE": root, "PATH": path, "HOME": root, "LC_ALL": "C", "TZ": "UTC0", "USER": "agent"}


def base_sandbox(files: dict[str, bytes], *, tar: bool) -> Sandbox:
    """Return a sandbox with the suite in it, of which each test takes a fork."""
    limits = Limits(timeout=SECONDS, total_bytes=512 << 20, file_bytes=256 << 20)
    sandbox = Sandbox(cwd=ROOT, env=environment(ROOT), limits=limits)
    for name, data in files.items():
        path = f"{ROOT}/{name}"
        sandbox.fs.makedirs(path.rpartition("/")[0])
        sandbox.fs.write_bytes(path, data)
        sandbox.fs.chmod(path, 0o755)
    if not tar:
        names = sandbox.execute("compgen -c | sort -u").stdout.split()
        sandbox.execute(f"export built_programs='{' '.join(names)}'")
    return sandbox


def in_sandbox(base: Sandbox, test: Test) -> tuple[int | None, str]:
    """Run a test in a sandbox; return its status (None if it took too long) and its log."""
    with base.fork() as sandbox:
        result = sandbox.execute(test.script, args=[test.name])
    log = f"{result.stdout}\n{result.stderr}"
    if result.limit == "timeout":
        return None, f"timeout\n{log}"
    return result.exit_code, log


def in_reality(files: dict[str, bytes], test: Test, *, tar: bool) -> int | None:
    """Run a test with the tools of this machine; return its status, None if it took too long."""
    with tempfile.TemporaryDirectory(prefix="tool-suite-") as place:
        root = Path(os.path.realpath(place)) / "suite"
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755)
        as_root = os.geteuid() == 0
        if as_root:
            Path(place).chmod(0o755)
            for path in (root, *root.rglob("*")):
                os.chown(path, USER, USER, follow_symlinks=False)
        env = environment(str(root))
        if not tar:
            env["built_programs"] = " ".join(sorted(os.listdir("/usr/bin")))
        process = subprocess.Popen(
            ["bash", "-c", test.script, "bash", test.name],
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            user=USER if as_root else None,
            group=USER if as_root else None,
            extra_groups=[] if as_root else None,
        )
        try:
            return process.wait(2 * SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            for path in root.rglob("*"):
                if path.is_dir() and not path.is_symlink():
                    path.chmod(0o755)
            shutil.rmtree(root, ignore_errors=True)


def class_of(log: str) -> str:
    """Return the class of a failure."""
    lines = [line for line in log.splitlines() if not line.startswith("+ ")]
    text = "\n".join(lines)
    return next(
        (name for name, pattern in CLASSES if re.search(pattern, text, re.MULTILINE)), OTHER
    )


def report(kinds: dict[str, Counter[str]], classes: Counter[str]) -> None:
    """Print what passed by kind, and the classes of the failures."""
    print(f"{'':16}{'passed':>8}{'failed':>8}{'skipped':>9}")
    total: Counter[str] = Counter()
    for kind in sorted(kinds):
        total.update(kinds[kind])
    for kind, counts in [*sorted(kinds.items()), ("all", total)]:
        print(f"{kind:16}{counts['passed']:8}{counts['failed']:8}{counts['skipped']:9}")
    judged = total["passed"] + total["failed"]
    print(f"{100 * total['passed'] / max(1, judged):.1f} % of {judged} that were not skipped")
    for name, count in classes.most_common():
        print(f"{count:6}  {name}")


def main() -> int:
    """The command line: 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.tool_suites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a test's name")
    parser.add_argument("--real", action="store_true", help="count what passes on this machine")
    parser.add_argument("--failures", action="store_true", help="name each failure")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of failures")
    options = parser.parse_args()
    tar = (options.folder / "tests" / "testsuite").exists()
    if not tar and not (options.folder / "tests" / "init.sh").exists():
        parser.error(f"{options.folder} is not a source of coreutils or tar")
    tests = (tar_tests if tar else coreutils_tests)(options.folder)
    chosen = [
        test
        for test in tests
        if not options.names or any(part in test.name for part in options.names)
    ]
    files = files_of(options.folder, tar=tar)
    base = base_sandbox(files, tar=tar)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    classes: Counter[str] = Counter()
    for test in chosen:
        if options.real and in_reality(files, test, tar=tar) != 0:
            kinds[test.kind]["skipped"] += 1
            continue
        status, log = in_sandbox(base, test)
        outcome = {0: "passed", 77: "skipped"}.get(-1 if status is None else status, "failed")
        kinds[test.kind][outcome] += 1
        if outcome != "failed":
            continue
        kind = class_of(log)
        classes[kind] += 1
        if options.failures:
            print(f"{test.name}: {kind}", flush=True)
        if options.logs:
            options.logs.mkdir(parents=True, exist_ok=True)
            (options.logs / f"{test.name.replace('/', '-')}.log").write_text(log)
    report(kinds, classes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
