"""`git check-attr`, `check-ref-format`, `check-mailmap`, `stripspace`, `interpret-trailers`."""

from __future__ import annotations

import re

from agentsandbox.git.attributes import Attributes
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import quote_path, unquote_path
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.pretty import Mailmap, Person
from agentsandbox.git.refs import is_branch_name, is_ref_name
from agentsandbox.git.texts import strip_space
from agentsandbox.git.trailer_edits import TrailerEdits, TrailerOptions
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.attributes import State

USAGES = {
    "check-attr": """
git check-attr [-a | --all | <attr>...] [--] <pathname>...
   or: git check-attr --stdin [-z] [-a | --all | <attr>...]

    -a, --all             report all attributes set on file
    --cached              use .gitattributes only from the index
    --stdin               read file names from stdin
    -z                    terminate input and output records by a NUL character
""",
    "check-ref-format": """
git check-ref-format [--normalize] [<options>] <refname>
   or: git check-ref-format --branch <branchname-shorthand>
""",
    "check-mailmap": """
git check-mailmap [<options>] <contact>...

    --stdin               also read contacts from stdin
""",
    "stripspace": """
git stripspace [-s | --strip-comments]
   or: git stripspace [-c | --comment-lines]

    -s, --strip-comments  skip and remove all lines starting with comment character
    -c, --comment-lines   prepend comment character and space to each line
""",
    "interpret-trailers": """
git interpret-trailers [--in-place] [--trim-empty]
                       [(--trailer (<key>|<keyAlias>)[(=|:)<value>])...]
                       [--parse] [<file>...]

    --in-place            edit files in place
    --trim-empty          trim empty trailers
    --where <placement>   where to place the new trailer
    --if-exists <action>  action if trailer already exists
    --if-missing <action>
                          action if trailer is missing
    --only-trailers       output only the trailers
    --only-input          do not apply trailer.* configuration variables
    --unfold              reformat multiline trailer values as single-line values
    --parse               alias for --only-trailers --only-input --unfold
    --no-divider          do not treat "---" as the end of input
    --trailer <trailer>   trailer(s) to add
""",
}


def check_attr(git: Invocation, words: list[str]) -> int:
    # long: which words are attributes and which are files
    options = parse_options(USAGES["check-attr"], words)
    repository = git.repository
    operands = options.operands
    everything, stdin = options.on("all"), options.on("stdin")
    dashes = options.has_dashes
    if everything:
        if dashes and options.before_dashes:
            raise _usage("Attributes and --all both specified")
        names, files = [], operands
    elif dashes:
        names, files = operands[: options.before_dashes], operands[options.before_dashes :]
    elif stdin:
        names, files = operands, []
    else:
        names, files = operands[:1], operands[1:]
    if not everything and not names:
        raise _usage("No attribute specified")
    if stdin and files:
        raise _usage("Can't specify files with --stdin")
    if not stdin and not files:
        raise _usage("No file specified")
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_.][-A-Za-z0-9_.]*", name):
            raise BadUsage(f"{name}: not a valid attribute name", usage=False)
    if stdin:
        data = git.read_input()
        nul = options.on("z")
        lines = [line for line in data.split(b"\0" if nul else b"\n") if line]
        files = [
            decode(unquote_path(line) if line.startswith(b'"') and not nul else line)
            for line in lines
        ]
    attributes = Attributes(repository, from_index=options.on("cached"))
    for file in files:
        git.budget.step()
        found = attributes.of(normalized(git, file))
        shown = names or attributes.in_order(normalized(git, file), found)
        for name in shown:
            value = _state_text(found.get(name))
            if options.on("z"):
                git.write(b"\0".join([encode(file), encode(name), encode(value), b""]))
            else:
                git.print(f"{quote_path(encode(file))}: {name}: {value}")
    return 0


def _usage(message: str) -> BadUsage:
    return BadUsage(message)


def _state_text(state: State) -> str:
    if isinstance(state, str):
        return state
    return "unspecified" if state is None else "set" if state else "unset"


def check_ref_format(git: Invocation, words: list[str]) -> int:
    if words == ["-h"]:
        raise BadUsage
    if words[:1] == ["--branch"] and len(words) == 2:
        name = words[1]
        if name.startswith("@{-") and git.find_repository() is not None:
            from agentsandbox.git.revisions import nth_branch

            found = re.fullmatch(r"@\{-([0-9]{1,6})\}", name)
            branch = nth_branch(git.repository, int(found[1])) if found is not None else None
            name = branch.removeprefix("refs/heads/") if branch else name
        if not is_branch_name(name):
            raise Fatal(f"'{words[1]}' is not a valid branch name")
        git.print(name)
        return 0
    normalizes = one_level = pattern = False
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word in ("--normalize", "--print"):
            normalizes = True
        elif word in ("--allow-onelevel", "--no-allow-onelevel"):
            one_level = word == "--allow-onelevel"
        elif word == "--refspec-pattern":
            pattern = True
        else:
            raise BadUsage
        at += 1
    if at != len(words) - 1:
        raise BadUsage
    name = words[at]
    if normalizes:
        name = re.sub(r"/{2,}", "/", name.lstrip("/"))
    tested = name.replace("*", "x", 1) if pattern else name
    if not is_ref_name(tested, one_level=one_level):
        return 1
    if normalizes:
        git.print(name)
    return 0


def check_mailmap(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["check-mailmap"], words)
    contacts = list(options.operands)
    if not contacts and not options.on("stdin"):
        raise Fatal("no contacts specified")
    if options.on("stdin"):
        lines = decode(git.read_input()).split("\n")
        contacts += lines[:-1] if not lines[-1] else lines
    mailmap = Mailmap(git.repository)
    for contact in contacts:
        git.budget.step()
        found = re.match(r"([^<]*+)<([^>]*+)>", contact)
        if found is None:
            raise Fatal(f"unable to parse contact: {contact}")
        person = Person(b"")
        person.name, person.mail = found[1].strip(), found[2]
        person = mailmap.apply(person)
        git.print(f"{person.name} <{person.mail}>" if person.name else f"<{person.mail}>")
    return 0


def stripspace(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["stripspace"], words)
    if options.operands:
        raise BadUsage
    if options.on("strip-comments") and options.on("comment-lines"):
        raise BadUsage("options '-c' and '-s' cannot be used together", usage=False)
    mark = "#"
    if options.on("strip-comments") or options.on("comment-lines"):
        text = git.config.get("core.commentchar", "#")
        mark = text if len(text) == 1 else "#"
    data = git.read_input()
    git.budget.step(1 + len(data) // 64)
    if not options.on("comment-lines"):
        git.write(strip_space(data, encode(mark) if options.on("strip-comments") else b""))
        return 0
    for line in data.split(b"\n")[: None if data[-1:] not in (b"\n", b"") else -1]:
        space = b" " if line and not line.startswith(b"\t") else b""
        git.write(encode(mark) + space + line + b"\n")
    return 0


def interpret_trailers(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["interpret-trailers"], words)
    chosen = _trailer_options(options)
    if chosen.only_input and options.given("trailer"):
        raise BadUsage("--trailer with --only-input does not make sense")
    edits = TrailerEdits(git, chosen)
    if not options.operands:
        if options.on("in-place"):
            raise Fatal("no input file given for in-place editing")
        git.write(edits.apply(git.read_input()))
        return 0
    for name in options.operands:
        try:
            data = git.fs.read_bytes(git.path(name))
        except OSError as error:
            raise Fatal(f"could not read input file '{name}': {error.strerror}") from None
        made = edits.apply(data)
        if options.on("in-place"):
            git.fs.write_bytes(git.path(name), made)
        else:
            git.write(made)
    return 0


def _trailer_options(options: Options) -> TrailerOptions:
    found = TrailerOptions()
    for name, value, negated in options.order:
        if name in ("where", "if-exists", "if-missing"):
            found.set_rule(name, value or "", negated=negated)
        elif name == "trailer" and not negated:
            found.add(value or "")
    parse = options.on("parse")
    found.trims = options.on("trim-empty")
    found.only_trailers = parse or options.on("only-trailers")
    found.only_input = parse or options.on("only-input")
    found.unfolds = parse or options.on("unfold")
    found.divides = options.on("divider", True) and not options.on("no-divider")
    return found


COMMANDS = {
    "check-attr": check_attr, "check-mailmap": check_mailmap,
    "check-ref-format": check_ref_format, "interpret-trailers": interpret_trailers,
    "stripspace": stripspace,
}  # fmt: skip
