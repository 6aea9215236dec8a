"""What a skill would do, found without running anything: the commands of its scripts, the network,
writes, and smells.

A census is for the person who decides whether to trust a skill. It finds what is written plainly;
what is hidden is in `opaque`, and no finding is a proof of harmlessness.
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

__all__ = ["Census", "Finding", "take_census"]

MAX_TEXT = 512 * 1024
MAX_FINDINGS = 200
SHOWN = 160
WRAPPERS = frozenset(
    ("sudo", "env", "nohup", "time", "timeout", "xargs", "nice", "exec", "command")
)
NETWORK = frozenset(
    "curl wget nc ncat netcat telnet ssh scp sftp rsync ftp socat dig nslookup ping http https pip pip3 pipx uv uvx npm npx pnpm yarn bunx "
    "brew apt apt-get dnf yum apk gem cargo go docker podman kubectl helm aws gcloud az gh".split()
)
GIT_NETWORK = frozenset("clone fetch pull push ls-remote submodule remote".split())
WRITERS = frozenset(
    "rm mv cp tee mkdir rmdir touch chmod chown ln install dd truncate shred unlink sed".split()
)
SAFE_TARGETS = (
    "/tmp/",
    "/workspace/",
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd/",
)

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w!-]*)")
_SHELLS = frozenset(("bash", "sh", "shell", "zsh", "console", "!"))
_PROMPT_SIGN = re.compile(r"^[ \t]*\$ ")
_INLINE = re.compile(r"(?:^|\s)!`([^`\n]+)`")
_FOREIGN = re.compile(
    r"\.(?:py|js|mjs|ts|rb|pl|php|ps1|bat|cmd|exe|dll|so|dylib|jar)$", re.IGNORECASE
)
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?")
_HOME = re.compile(r"[\w/]*(?:~/|\$\{?HOME\}?/)")

SMELLS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        (
            "overrides-instructions",
            r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rules|prompts?|guidelines)\b",
        ),
        (
            "hides-from-user",
            r"\b(?:do not|don't|never|without)\b[^.\n]{0,30}\b(?:tell\w*|inform\w*|mention\w*|notify\w*|ask\w*)\b[^.\n]{0,20}\buser",
        ),
        (
            "poses-as-system",
            r"</?\s*(?:system|developer|assistant|skill_content|active_skills|available_skills)\b|\[(?:system|inst)\]",
        ),
        (
            "reads-secrets",
            r"(?:\.ssh/|\.aws/|\.netrc|id_rsa|id_ed25519|\.env\b|/etc/shadow|credentials\.json|AWS_SECRET|_API_KEY\b|GITHUB_TOKEN)",
        ),
        (
            "runs-a-download",
            r"\b(?:curl|wget)\b[^\n|;]{0,200}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b",
        ),
        (
            "runs-decoded-text",
            r"\bbase64[ \t]+(?:-d|-D|--decode)\b[^\n|;]{0,80}\|[ \t]*(?:ba|z|da)?sh\b",
        ),
        (
            "switches-safety-off",
            r"--(?:dangerously-\S+|no-verify|yolo|insecure)\b|--no-check-certificate|\bset[ \t]\+e\b.*\brm[ \t]-rf",
        ),
    )
)
_HARMLESS = frozenset("\f\u200d")
"""Characters that are not seen and do no harm: the one starts a page, the other joins emoji."""
_BLOB = re.compile(r"[A-Za-z0-9+/]{400,}={0,2}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something at a place in a skill."""

    code: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.text}"


@dataclass(slots=True)
class Census:
    """What was found in one skill."""

    skill: str
    digest: str
    commands: Counter[str] = field(default_factory=Counter)
    """How often each command is called, those in the instructions' shell blocks included."""
    network: list[Finding] = field(default_factory=list)
    writes: list[Finding] = field(default_factory=list)
    """Writes outside the working directory, and those whose target is only known when they run."""
    opaque: list[Finding] = field(default_factory=list)
    """What cannot be told before it runs, and scripts in languages that are not looked into."""
    smells: list[Finding] = field(default_factory=list)
    """Texts that instructions have no need of."""


def take_census(skill: AgentSkill) -> Census:
    """Look through all files of a skill."""
    census = Census(skill.name, skill.package_digest)
    for file in skill.files:
        path = file.relative_path
        text = as_text(file.content[:MAX_TEXT]) if file.link is None else ""
        if text is None:
            if file.executable or _FOREIGN.search(path):
                _note(
                    census.opaque, "binary", path, 1, f"{len(file.content)} bytes that are no text"
                )
            continue
        _note_smells(census, path, text)
        if path.lower().endswith((".md", ".markdown")):
            for start, script in _scripts_in(text):
                _note_script(census, path, start, script, quiet=True)
        elif interpreter_of(path, file.content, INTERPRETERS) is not None:
            _note_script(census, path, 1, text)
        elif _FOREIGN.search(path) or text.startswith("#!"):
            _note(census.opaque, "other-language", path, 1, "a program that is not looked into")
            _note_addresses(census, path, text)
    return census


def _scripts_in(text: str) -> Iterator[tuple[int, str]]:
    """The shell blocks and commands of instructions, with the line each begins at."""
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
    census: Census, path: str, start: int, script: str, *, quiet: bool = False
) -> None:
    """Note what a script does; instructions show templates often (`quiet`), which are no scripts
    and no finding.
    """
    try:
        analysis = analyze(script)
    except ShellSyntaxError as error:
        if not quiet:
            _note(census.opaque, "no-shell-grammar", path, start + error.line - 1, str(error))
        return
    lines = script.split("\n")
    for found in analysis.opaque:
        _note(
            census.opaque, "opaque", path, start + found.line - 1, f"{found.text}: {found.reason}"
        )
    functions = set(analysis.functions)
    for command in analysis.commands:
        _note_command(census, path, start, command, functions)
    _note_redirections(census, path, start, analysis, lines)


def _note_command(
    census: Census, path: str, start: int, command: FoundCommand, functions: set[str]
) -> None:
    if command.name is None or command.name in functions:
        return
    name = posixpath.basename(command.name)
    census.commands[name] += 1
    words = [name, *command.arguments]
    line = start + command.line - 1
    shown = " ".join(word if word is not None else "…" for word in words)
    while words and words[0] in WRAPPERS:
        words = [word for word in words[1:] if word is None or not word.startswith("-")]
        if words and words[0] in NETWORK | WRITERS:
            census.commands[words[0]] += 1
    if not words:
        return
    if words[0] in NETWORK or (
        words[0] == "git" and any(word in GIT_NETWORK for word in words[1:3])
    ):
        _note(census.network, words[0], path, line, shown)
    if words[0] in WRITERS and (
        words[0] != "sed" or any(word and word.startswith(("-i", "--in-place")) for word in words)
    ):
        for word in words[1:]:
            if word is not None and _is_outside(word.removeprefix("of=")):
                _note(census.writes, words[0], path, line, shown)
                break


def _note_redirections(
    census: Census, path: str, start: int, analysis: Analysis, lines: list[str]
) -> None:
    for redirection in analysis.redirections:
        if redirection.mode == "read":
            continue
        shown = lines[redirection.line - 1].strip() if redirection.line <= len(lines) else ""
        if redirection.path is None:
            code = "home" if _HOME.search(shown) else "target known when it runs"
            _note(census.writes, code, path, start + redirection.line - 1, shown)
        elif _is_outside(redirection.path):
            _note(census.writes, "redirection", path, start + redirection.line - 1, shown)


def _is_outside(path: str) -> bool:
    """Whether a path is not below the working directory or a place for temporary files."""
    if path.startswith("~"):
        return True
    clean = posixpath.normpath(path)
    if clean.startswith("/"):
        return not f"{clean}/".startswith(SAFE_TARGETS)
    return clean.startswith("..")


def _note_addresses(census: Census, path: str, text: str) -> None:
    for number, line in _lines(text):
        for match in _URL.finditer(line):
            _note(census.network, "address", path, number, match[0])


def _note_smells(census: Census, path: str, text: str) -> None:
    for code, pattern in SMELLS:
        for number, line in _lines(text):
            if match := pattern.search(line):
                _note(census.smells, code, path, number, match[0])
    for number, line in _lines(text):
        hidden = INVISIBLE.findall(line.removeprefix("\ufeff") if number == 1 else line)
        if not _HARMLESS.issuperset(hidden):
            names = " ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in hidden))
            _note(census.smells, "invisible-characters", path, number, names)
        if match := _BLOB.search(line):
            _note(census.smells, "encoded-blob", path, number, f"{len(match[0])} characters")


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return enumerate((line[:2000] for line in text.split("\n")), 1)


def _note(findings: list[Finding], code: str, path: str, line: int, text: str) -> None:
    if len(findings) < MAX_FINDINGS:
        short = " ".join(text.split())
        findings.append(
            Finding(code, path, line, short if len(short) <= SHOWN else f"{short[: SHOWN - 1]}…")
        )
