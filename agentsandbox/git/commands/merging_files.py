"""`git merge-file`."""

from __future__ import annotations

from agentsandbox.git.diff.merge import TextMerge
from agentsandbox.git.errors import BadUsage, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options

USAGES = {
    "merge-file": """
git merge-file [<options>] [-L <name1> [-L <orig> [-L <name2>]]] <file1> <orig-file> <file2>

    -p, --stdout          write the result to stdout
    --diff3               show the base in conflicts
    --zdiff3              the same, without equal lines at the ends
    --ours                our version wins conflicts
    --theirs              their version wins conflicts
    --union               conflicts become both versions
    --marker-size <n>     the length of the markers
    -q, --quiet           do not warn about conflicts
    -L <name>             the name of a file behind the markers
""",
}
_MOST_STATUS = 127


def merge_file(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["merge-file"], words)
    names = options.operands
    if len(names) != 3:
        raise BadUsage
    if len(options.all("L")) > 3:
        raise BadUsage("too many labels on the command line", usage=False)
    style = "merge"
    repository = git.find_repository()
    if repository is not None:
        style = repository.config.get("merge.conflictstyle", "merge")
    favor = ""
    for name, _, negated in options.order:
        if name in ("diff3", "zdiff3"):
            style = "merge" if negated else name
        elif name in ("ours", "theirs", "union"):
            favor = "" if negated else name
    texts = []
    for name in names:
        try:
            data = git.fs.read_bytes(git.path(name))
        except OSError as error:
            text = f"Could not stat {name}" if error.errno == 2 else f"Could not open {name}"
            raise GitError(f"{text}: {error.strerror}", 255) from None
        if b"\0" in data[:8000]:
            raise GitError(f"Cannot merge binary files: {name}", 255)
        git.budget.charge(len(data))
        texts.append(data)
    labels = [*options.all("L"), *names[len(options.all("L")) :]]
    work = TextMerge(
        git.budget, labels=(labels[0], labels[1], labels[2]), style=style, favor=favor,
        algorithm="myers", marker=options.number("marker-size", 7), join_signs=True,
    )  # fmt: skip
    merged = work.merge(texts[1], texts[0], texts[2])
    if options.on("stdout"):
        git.write(merged)
    else:
        git.fs.write_bytes(git.path(names[0]), merged)
    return min(work.conflicts, _MOST_STATUS)


COMMANDS = {"merge-file": merge_file}
