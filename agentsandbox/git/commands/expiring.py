"""`git reflog expire` and `delete`."""

from __future__ import annotations

from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.expiry import Expiry, expiry_time
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.reachability import reflog_tips
from agentsandbox.git.reflogs import full_name

_FAILED = 255
_HOW = """
    --dry-run             drop nothing
    --rewrite             let each entry begin where the one before it ends
    --updateref           set the reference to its newest entry
    --verbose             print each entry
"""
_EXPIRE = (
    """
git reflog expire [--expire=<time>] [--expire-unreachable=<time>]
                  [--rewrite] [--updateref] [--dry-run] [--verbose]
                  [--all [--single-worktree] | <refs>...]
"""
    + _HOW
    + """    --expire <timestamp>  drop entries older than this
    --expire-unreachable <timestamp>
                          drop entries older than this that the reference does not reach
    --stale-fix           is not supported
    --all                 of all references
    --single-worktree     of this worktree only
"""
)
_DELETE = (
    """
git reflog delete [--rewrite] [--updateref] [--dry-run] [--verbose] <ref>@{<specifier>}...
"""
    + _HOW
)


def change_reflogs(git: Invocation, name: str, words: list[str]) -> int:
    """Run `reflog expire` or `reflog delete`."""
    return _expire(git, words) if name == "expire" else _delete(git, words)


def _expiry(git: Invocation, options: Options) -> Expiry:
    made = Expiry(git)
    made.rewrites = options.on("rewrite")
    made.updates = options.on("updateref")
    made.dry = options.on("dry-run")
    made.verbose = options.on("verbose")
    return made


def _expire(git: Invocation, words: list[str]) -> int:
    options = parse_options(_EXPIRE, words)
    if options.on("stale-fix"):
        raise Fatal("git reflog expire --stale-fix is not supported in this sandbox")
    work = _expiry(git, options)
    if options.given("expire"):
        work.total = expiry_time(git, options.text("expire"))
    if options.given("expire-unreachable"):
        work.unreachable = expiry_time(git, options.text("expire-unreachable"))
    if options.on("all"):
        for name in dict.fromkeys([each for each, _ in reflog_tips(git.repository)]):
            work.expire(name)
    status = 0
    for word in options.operands:
        found = _log_of(git, word)
        if found is None:
            git.error(f"{word} points nowhere!")
            status = _FAILED
        else:
            work.says_would = False
            work.expire(found)
    return status


def _log_of(git: Invocation, word: str) -> str | None:
    """Return the full name of a reference that has a log, or None."""
    try:
        name = full_name(git, word)
    except Fatal:
        return None
    refs = git.repository.refs
    return name if git.fs.is_file(refs.log_path(name)) else None


def _delete(git: Invocation, words: list[str]) -> int:
    options = parse_options(_DELETE, words)
    if not options.operands:
        git.error("no reflog specified to delete")
        return _FAILED
    status = 0
    for word in options.operands:
        base, at, place = word.partition("@{")
        if not at:
            git.error(f"not a reflog: {word}")
            status = _FAILED
            continue
        name = _log_of(git, base or "HEAD")
        if name is None:
            git.error(f"no reflog for '{word}'")
            status = _FAILED
            continue
        if not place.endswith("}"):
            raise BadUsage
        _expiry(git, options).delete(name, place[:-1])
    return status
