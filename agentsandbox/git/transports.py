"""What is behind the URL of a remote: a path, a bundle, an offer of the host, `https://`.

`ssh` and `git://` are refused by name.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from agentsandbox.git.errors import Plain
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
    if offered is not None:
        from agentsandbox.git.offered import open_offered

        return open_offered(git, url, offered)
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[1].lower() != "file":
        return _open_url(git, scheme[1].lower(), url)
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


def refused_ssh(url: str) -> Plain:
    """Return the refusal of ssh."""
    return Plain(
        f"fatal: ssh is not available in this sandbox: cannot reach '{url}'\n{_NO_ACCESS}", 128
    )


def _open_url(git: Invocation, scheme: str, url: str) -> Peer:
    if scheme in ("http", "https"):
        from agentsandbox.git.http import HttpPeer

        return HttpPeer(git, url)
    if scheme in ("ssh", "git+ssh", "ssh+git"):
        raise refused_ssh(url)
    if scheme in ("git", "ftp", "ftps"):
        raise Plain(
            f"fatal: {scheme}:// is not available in this sandbox: cannot reach '{url}'", 128
        )
    raise Plain(f"git: 'remote-{scheme}' is not a git command. See 'git --help'.", 128)
