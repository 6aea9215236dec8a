"""What is behind the URL of a remote: a path, a bundle, an offer of the host, `https://`.

`ssh` and `git://` are refused by name.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from agentsandbox.git.errors import Fatal, Plain
from agentsandbox.git.remotes import LocalPeer, Peer, find_repository_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_NO_ACCESS = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists."
)


def open_peer(git: Invocation, url: str, *, push: bool = False) -> Peer:
    """Return the repository at a URL; Plain in git's words if it cannot be reached."""
    offered = git.ctx.host.git_remotes.get(url)
    if offered is None:
        for name, value in git.ctx.host.git_remotes.items():
            if git.config.get(f"remote.{name}.url") == url:
                offered = value
    if offered is None:
        check_allowed(git, url)
    if offered is not None:
        from agentsandbox.git.offered import open_offered

        return open_offered(git, url, offered)
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[1].lower() != "file":
        return _open_url(git, scheme[1].lower(), url, push=push)
    if scheme is None and re.match(r"[^/]*[^/:]:", url) and not git.fs.exists(git.path(url)):
        raise refused_ssh(url)
    path = unquote(url[7:]) if scheme is not None else url
    repository = find_repository_at(git, path)
    if repository is not None:
        return LocalPeer(repository, url)
    if git.fs.is_file(git.path(path)) and not push:
        from agentsandbox.git.bundles import open_bundle

        return open_bundle(git, path, url)
    raise Plain(f"fatal: '{path}' does not appear to be a git repository\n{_NO_ACCESS}", 128)


def check_allowed(git: Invocation, url: str) -> None:
    """Raise if `protocol.allow` and its like forbid what is behind a URL.

    By default paths are only for what the user names, not for what a submodule names
    (GIT_PROTOCOL_FROM_USER=0): a foreign history must not choose a folder here to read.
    """
    scheme = _SCHEME.match(url)
    if scheme is not None:
        kind = {"git+ssh": "ssh", "ssh+git": "ssh"}.get(scheme[1].lower(), scheme[1].lower())
    elif re.match(r"[^/]*[^/:]:", url) and not git.fs.exists(git.path(url)):
        kind = "ssh"
    else:
        kind = "file"
    listed = git.env.get("GIT_ALLOW_PROTOCOL")
    if listed is not None:
        allowed = kind in listed.split(":")
    else:
        default = "always" if kind in ("http", "https", "git", "ssh") else "user"
        config = git.config
        key = f"protocol.{kind}.allow"
        if config.find(key) is None and config.find("protocol.allow") is not None:
            key = "protocol.allow"
        choice = config.get(key, default).lower()
        if choice not in ("always", "never", "user"):
            raise Fatal(f"unknown value for config '{key}': {config.get(key)}")
        from_user = git.env.get("GIT_PROTOCOL_FROM_USER", "1").lower()
        allowed = choice == "always" or (
            choice == "user" and from_user not in ("0", "false", "no", "off", "")
        )
    if not allowed:
        raise Fatal(f"transport '{kind}' not allowed")


def refused_ssh(url: str) -> Plain:
    """Return the refusal of ssh."""
    return Plain(
        f"fatal: ssh is not available in this sandbox: cannot reach '{url}'\n{_NO_ACCESS}", 128
    )


def _open_url(git: Invocation, scheme: str, url: str, *, push: bool) -> Peer:
    if scheme in ("http", "https"):
        from agentsandbox.git.http import HttpPeer

        return HttpPeer(git, url, push=push)
    if scheme in ("ssh", "git+ssh", "ssh+git"):
        raise refused_ssh(url)
    if scheme in ("git", "ftp", "ftps"):
        raise Plain(
            f"fatal: {scheme}:// is not available in this sandbox: cannot reach '{url}'", 128
        )
    raise Plain(f"git: 'remote-{scheme}' is not a git command. See 'git --help'.", 128)
