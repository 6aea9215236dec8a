"""An audit of a skill: its commands, network use, writes and suspicious texts.

Nothing is run. An audit is for the person who decides whether to trust a skill. It finds what is
written plainly and lists in `opaque` what cannot be known before it runs. An audit without findings
is no proof that a skill is harmless.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentsandbox.analysis import analyze
from agentsandbox.errors import ShellSyntaxError
from agentsandbox.skills.invisible import INVISIBLE
from agentsandbox.skills.session.reading import as_text
from agentsandbox.skills.session.scripts import INTERPRETERS, interpreter_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.analysis import Analysis, FoundCommand
    from agentsandbox.skills.skill import AgentSkill

MAX_TEXT = 512 * 1024
MAX_FINDINGS = 200
SHOWN = 160
WRAPPERS = frozenset("sudo env nohup time timeout xargs nice exec command".split())
NETWORK = frozenset(
    """
    curl wget nc ncat netcat telnet ssh scp sftp rsync ftp socat dig nslookup ping http https pip
    pip3 pipx uv uvx npm npx pnpm yarn bunx brew apt apt-get dnf yum apk gem cargo go docker podman
    kubectl helm aws gcloud az gh
    """.split()
)
GIT_NETWORK = frozenset("clone fetch pull push ls-remote submodule remote".split())
WRITERS = frozenset(
    "rm mv cp tee mkdir rmdir touch chmod chown ln install dd truncate shred unlink sed".split()
)
SAFE_TARGETS = tuple(
    "/tmp/ /workspace/ /dev/null /dev/stdout /dev/stderr /dev/tty /dev/fd/".split()
)

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w!-]*)")
_SHELLS = frozenset(("bash", "sh", "shell", "zsh", "console", "!"))
_PROMPT_SIGN = re.compile(r"^[ \t]*\$ ")
_INLINE = re.compile(r"(?:^|\s)!`([^`\n]+)`")
_FOREIGN = re.compile(
    r"\.(?:py|js|mjs|ts|rb|pl|php|ps1|bat|cmd|exe|dll|so|dylib|jar)$", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"(?<!<)<(?:\w|[A-Za-z][\w .:,/|'@#+-]{0,80}[\w.'](?<! \d))>"
    r"(?![>&(~]|/(?:etc|root|home|var|dev|boot|proc|sys|usr)/)"
    r"|\{\{[\w .-]{1,80}\}\}|(?<!\S)\[[A-Za-z][\w .:|-]{0,80}\](?!\S)"
)
"""What a reader of instructions has to fill in: `<path to file>`, `{{name}}`, `[command]`."""
_MARKS = "<>{}[]| '#,"
_MASK = {ord(mark): chr(0xE000 + number) for number, mark in enumerate(_MARKS)}
_UNMASK = {0xE000 + number: mark for number, mark in enumerate(_MARKS)}
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?")
_HOME = re.compile(r"~/|\$\{?HOME\}?/")

_READING = (
    "cat|source|open|reads?|readFile\\w*|Path|load\\w*|cp|mv|scp|rsync|tar|zip|base64|curl|grep|head"
    "|tail|less|more|awk|sed|jq|dump|upload|send|include|copy|share|collect|contents?"
)
_ENV_FILE = (
    r"(?<![\w)\]}$?.])\.env(?![\w(])(?!\.(?:example|sample|template|dist)\b)"  # not process.env
)
_SMELLS = {
    "overrides-instructions": (
        r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}"
        r"\b(?:instructions?|rules|prompts?|guidelines)\b"
    ),
    "hides-from-user": (
        r"\b(?:do not|don't|never|without)\b[^.\n]{0,30}"
        r"\b(?:tell\w*|inform\w*|mention\w*|notify\w*|ask\w*)\b[^.\n]{0,20}\buser"
    ),
    "poses-as-system": (
        r"</?\s*(?:system|developer|assistant|skill_content|active_skills|available_skills)\b"
        r"|\[(?:system|inst)\]"
    ),
    "reads-secrets": (
        r"\.ssh/|\.aws/|\.netrc\b|\.git-credentials\b|\.kube/config\b|\.docker/config\.json"
        r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|/etc/shadow\b|\bcredentials\.json"
        rf"|\b(?:{_READING})\b[^\n]{{0,60}}{_ENV_FILE}|(?:^|[\s;&|])\.[ \t]+\S{{0,60}}{_ENV_FILE}"
        r"|(?:\$\{?|\benv\.|\b(?:environ|getenv|env)\b[^\w\n]{1,4}(?:get\W{1,3})?)"
        r"\w{0,60}(?:_API_KEY|AWS_SECRET\w{0,20}|(?:GITHUB|GH|NPM|AUTH|ACCESS)_TOKEN)\b"
        r"|\b(?:stringify|entries|keys|values|assign|dict|dumps)\([^()\n]{0,40}"
        r"\b(?:process\.env|os\.environ)\b(?![.\[])"
    ),
    "runs-a-download": (r"\b(?:curl|wget)\b[^\n|;]{0,200}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b"),
    "runs-decoded-text": (
        r"\bbase64[ \t]+(?:-d|-D|--decode)\b[^\n|;]{0,80}\|[ \t]*(?:ba|z|da)?sh\b"
    ),
    "switches-safety-off": (
        r"--(?:dangerously-\S+|no-verify|yolo|insecure)\b|--no-check-certificate"
        r"|\bset[ \t]\+e\b.*\brm[ \t]-rf"
    ),
}
SMELLS = {code: re.compile(pattern, re.IGNORECASE) for code, pattern in _SMELLS.items()}
_HARMLESS = frozenset("\f\u200d")
"""Invisible characters without harm: form feed, and the joiner of emoji."""
_BLOB = re.compile(r"[A-Za-z0-9+/]{400,}={0,2}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in a file of a skill.

    code  a short name that does not change between versions
    path  the file, below the skill's root
    line  the number of the line, from 1
    text  what was found, on one line
    """

    code: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.text}"


@dataclass(slots=True)
class Audit:
    """The findings about one skill.

    skill     its name
    digest    its `package_digest`
    commands  how often each command is called, in scripts and in shell blocks of instructions
    network   commands and addresses that use the network
    writes    writes outside the working directory, and writes to a path that is computed
    opaque    what is not known before it runs, and scripts in other languages
    smells    texts that instructions do not need
    """

    skill: str
    digest: str
    commands: Counter[str] = field(default_factory=Counter)
    network: list[Finding] = field(default_factory=list)
    writes: list[Finding] = field(default_factory=list)
    opaque: list[Finding] = field(default_factory=list)
    smells: list[Finding] = field(default_factory=list)


def audit_skill(skill: AgentSkill) -> Audit:
    """Search all files of a skill."""
    audit = Audit(skill.name, skill.package_digest)
    for file in skill.files:
        path = file.relative_path
        text = as_text(file.content[:MAX_TEXT]) if file.link is None else ""
        if text is None:
            if file.executable or _FOREIGN.search(path):
                size = len(file.content)
                _note(audit.opaque, "binary", path, 1, f"{size} bytes that are not text")
            continue
        _note_smells(audit, path, text)
        if path.lower().endswith((".md", ".markdown")):
            for start, script in _scripts_in(text):
                _note_script(audit, path, start, script, is_example=True)
        elif interpreter_of(path, file.content, INTERPRETERS) is not None:
            _note_script(audit, path, 1, text)
        elif _FOREIGN.search(path) or text.startswith("#!"):
            _note(audit.opaque, "other-language", path, 1, "a program that is not analysed")
            _note_addresses(audit, path, text)
    return audit


def _scripts_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield (first line, script) for each shell block and command in instructions."""
    block: list[str] | None = None
    fence, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if not fence and match is not None:
            fence, start = match[1], number + 1
            block = [] if match[2] in _SHELLS else None
        elif fence and line.rstrip() == fence:
            if block is not None:
                yield start, "\n".join(block)
            fence, block = "", None
        elif block is not None:
            block.append(_PROMPT_SIGN.sub("", line))
        if not fence:
            for found in _INLINE.finditer(line):
                yield number, found[1]


def _note_script(
    audit: Audit, path: str, start: int, script: str, *, is_example: bool = False
) -> None:
    """Add what a script does; an example that is not valid may be a template, not a finding.

    In an example `<file>` is a place to fill in: it is masked, so that it is part of a word and not
    a redirection.
    """
    if is_example:
        script = _PLACEHOLDER.sub(lambda match: match[0].translate(_MASK), script)
    try:
        analysis = analyze(script)
    except ShellSyntaxError as error:
        if not is_example:
            _note(audit.opaque, "no-shell-grammar", path, start + error.line - 1, str(error))
        return
    lines = script.split("\n")
    for found in analysis.opaque:
        text = f"{found.reason}: {found.text}"
        _note(audit.opaque, "opaque", path, start + found.line - 1, text)
    functions = set(analysis.functions)
    for command in analysis.commands:
        _note_command(audit, path, start, command, functions)
    _note_redirections(audit, path, start, analysis, lines)


def _note_command(
    audit: Audit, path: str, start: int, command: FoundCommand, functions: set[str]
) -> None:
    if command.name is None or command.name in functions:
        return
    name = posixpath.basename(command.name)
    if any(_MASK[ord(mark)] in name for mark in "<{["):
        return
    audit.commands[name] += 1
    words = [name, *command.arguments]
    line = start + command.line - 1
    shown = " ".join(word if word is not None else "…" for word in words)
    while words and words[0] in WRAPPERS:
        words = [word for word in words[1:] if word is None or not word.startswith("-")]
        if words and words[0] in NETWORK | WRITERS:
            audit.commands[words[0]] += 1
    first, *rest = words or [None]
    if first is None:
        return
    if first in NETWORK or (first == "git" and not GIT_NETWORK.isdisjoint(rest[:2])):
        _note(audit.network, first, path, line, shown)
    known = [word for word in rest if word is not None]
    writes = first in WRITERS and (
        first != "sed" or any(word.startswith(("-i", "--in-place")) for word in known)
    )
    if writes and any(_is_outside(word.removeprefix("of=")) for word in known):
        _note(audit.writes, first, path, line, shown)


def _note_redirections(
    audit: Audit, path: str, start: int, analysis: Analysis, lines: list[str]
) -> None:
    for redirection in analysis.redirections:
        if redirection.mode == "read":
            continue
        shown = lines[redirection.line - 1].strip() if redirection.line <= len(lines) else ""
        if redirection.path is None:
            code = "home" if _HOME.search(shown) else "target known when it runs"
            _note(audit.writes, code, path, start + redirection.line - 1, shown)
        elif _is_outside(redirection.path):
            _note(audit.writes, "redirection", path, start + redirection.line - 1, shown)


def _is_outside(path: str) -> bool:
    """Whether a path is neither below the working directory nor in one of `SAFE_TARGETS`."""
    if path.startswith("~"):
        return True
    clean = posixpath.normpath(path)
    if clean.startswith("/"):
        return not f"{clean}/".startswith(SAFE_TARGETS)
    return clean.startswith("..")


def _note_addresses(audit: Audit, path: str, text: str) -> None:
    for number, line in _lines(text):
        for match in _URL.finditer(line):
            _note(audit.network, "address", path, number, match[0])


def _note_smells(audit: Audit, path: str, text: str) -> None:
    for code, pattern in SMELLS.items():
        for number, line in _lines(text):
            if match := pattern.search(line):
                _note(audit.smells, code, path, number, match[0])
    for number, line in _lines(text):
        hidden = INVISIBLE.findall(line.removeprefix("\ufeff") if number == 1 else line)
        if not _HARMLESS.issuperset(hidden):
            names = " ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in hidden))
            _note(audit.smells, "invisible-characters", path, number, names)
        if match := _BLOB.search(line):
            _note(audit.smells, "encoded-blob", path, number, f"{len(match[0])} characters")


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return enumerate((line[:2000] for line in text.split("\n")), 1)


def _note(findings: list[Finding], code: str, path: str, line: int, text: str) -> None:
    if len(findings) < MAX_FINDINGS:
        short = " ".join(text.translate(_UNMASK).split())
        if len(short) > SHOWN:
            short = f"{short[: SHOWN - 1]}…"
        findings.append(Finding(code, path, line, short))
