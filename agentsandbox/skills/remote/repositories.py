"""One commit of a git repository as an archive, over HTTP or from a folder of the host.

Nothing is checked out; hooks, filters and submodules are ignored. HTTP stays within a
`NetworkPolicy`. Servers are not trusted: before a pack is read, the size that all its objects
unpack to is counted (`check_pack`), and both directories and files of a tree are limited.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentsandbox.errors import InvalidSkillError, SkillLimitError, SkillNotFoundError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import DEPTH_MAX
from agentsandbox.skills.remote.transport import open_client
from agentsandbox.skills.sources.files import MAX_BYTES, MAX_FILES, SKIPPED_DIRECTORIES

try:
    import dulwich.client
    import dulwich.errors
    import dulwich.objects
    import dulwich.repo
except ImportError:
    from agentsandbox.errors import SkillStateError

    raise SkillStateError(
        'fetching repositories needs the extra "remote": pip install "agentsandbox[remote]"'
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentsandbox.network import NetworkPolicy

MAX_OBJECTS = 200_000
MAX_UNPACKED = 4 * MAX_BYTES
MAX_TREES = 20_000
SUBMODULE = 0o160000
OFFSET_DELTA, NAMED_DELTA = 6, 7
CHUNK = 4096
_FIXED = (1980, 1, 1, 0, 0, 0)


def local_path(url: str) -> str | None:
    """Return the path of a folder of the host, None for an address of the network."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return parts.path
    return os.path.expanduser(url) if parts.scheme == "" and "@" not in url else None


def fetch_tree(
    url: str, ref: str, policy: NetworkPolicy, *, local: bool, below: str = ""
) -> tuple[str, bytes]:
    """Return the commit that `ref` is now, and its files below a directory as a zip archive."""
    try:
        repo, named = _opened(url, ref) if local else _fetched(url, ref, policy)
        try:
            commit = _commit(repo, named, ref)
            return str(commit.id, "ascii"), _archive(repo, commit.tree, below)
        finally:
            repo.close()
    except dulwich.errors.NotGitRepository:
        raise SkillNotFoundError(f"{url}: not a git repository") from None
    except (
        dulwich.errors.GitProtocolError,
        dulwich.errors.ObjectFormatException,
        dulwich.errors.ChecksumMismatch,
        KeyError,
    ) as error:
        raise InvalidSkillError(f"{url}: the repository cannot be read: {error}") from None
    except (zlib.error, AssertionError, ValueError) as error:
        raise InvalidSkillError(f"{url}: the repository is damaged: {error}") from None


def _commit(repo: Any, named: bytes | None, ref: str) -> Any:
    """Return the commit `named`, or the one that the tag `named` points to."""
    for _ in range(8):
        if named is None or named not in repo.object_store:
            break
        thing = repo.object_store[named]
        if isinstance(thing, dulwich.objects.Commit):
            return thing
        if not isinstance(thing, dulwich.objects.Tag):
            break
        named = thing.object[1]
    raise SkillNotFoundError(f"the repository has no commit {ref[:100]!r}")


def _choose(refs: Mapping[Any, Any], ref: str) -> Any:
    """Return the id of a branch, a tag or a commit, None for an unknown name."""
    for prefix in ("", "refs/heads/", "refs/tags/", "refs/remotes/origin/"):
        if found := refs.get(encode(prefix + ref)):
            return found
    return encode(ref) if len(ref) == 40 else None


def _opened(path: str, ref: str) -> tuple[Any, Any]:
    repo = dulwich.repo.Repo(path)
    return repo, _choose(repo.get_refs(), ref)


def _fetched(url: str, ref: str, policy: NetworkPolicy) -> tuple[Any, Any]:
    """Return a repository in memory with one commit, and the id of that commit or its tag."""
    repo = dulwich.repo.MemoryRepo()
    pack = io.BytesIO()
    wanted: list[Any] = []

    def choose(refs: Mapping[Any, Any], depth: int | None = None) -> list[Any]:
        sha = _choose(refs, ref)
        if sha is None:
            raise SkillNotFoundError(f"the repository has no branch or tag {ref[:100]!r}")
        wanted.append(sha)
        return wanted

    with open_client(policy) as http:
        client = _GuardedGit(url, http)
        client.fetch_pack(
            encode(urlsplit(url).path), choose, repo.get_graph_walker(), pack.write, depth=1
        )
    check_pack(pack.getvalue())
    file, commit, _ = repo.object_store.add_pack()
    file.write(pack.getvalue())
    commit()
    return repo, wanted[0]


class _GuardedGit(dulwich.client.AbstractHttpGitClient):
    """Git over a client that keeps to the policy; only the first request may be redirected."""

    def __init__(self, url: str, http: Any) -> None:
        super().__init__(url, quiet=True)  # a thin pack needs what we have, which is nothing
        self._http = http

    def get_url(self, path: Any) -> str:
        return self._base_url

    def _get_url(self, path: Any) -> str:
        return self._base_url

    def _http_request(
        self,
        url: str,
        headers: Any = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        if data is None:
            found, answer, content = self._http.get(url, headers)
        else:
            body = data if isinstance(data, bytes) else b"".join(data)
            found, (answer, content) = url, self._http.ask(url, "POST", headers, body)
        if raise_for_status and answer.status_code != 200:
            raise dulwich.errors.GitProtocolError(f"the server answered {answer.status_code}")
        redirected = found if found != url else ""
        response = _Response(answer.headers.get("content-type"), redirected)
        return response, io.BytesIO(content).read


class _Response:
    """An HTTP response as dulwich needs it."""

    def __init__(self, content_type: str | None, redirect_location: str) -> None:
        self.content_type = content_type
        self.redirect_location = redirect_location

    def close(self) -> None:
        """Do nothing: the content has been read."""


def check_pack(data: bytes) -> None:
    """Raise for a pack whose objects unpack to too much, or to other sizes than they declare."""
    if data[:4] != b"PACK" or len(data) < 32:
        raise InvalidSkillError("the server sent no pack")
    count = int.from_bytes(data[8:12], "big")
    if count > MAX_OBJECTS:
        raise SkillLimitError(f"the repository has more than {MAX_OBJECTS} objects")
    at, left = 12, MAX_UNPACKED
    try:
        for _ in range(count):
            at, size = _check_object(data, at, left)
            left -= size
    except (IndexError, zlib.error):
        raise InvalidSkillError("the pack is damaged") from None


def _check_object(data: bytes, at: int, left: int) -> tuple[int, int]:
    """Return the offset after an object, and the memory that it takes with its result."""
    kind, low = data[at] >> 4 & 7, data[at] & 15
    rest, at = _number(data, at + 1) if data[at] & 128 else (0, at + 1)
    size = rest << 4 | low
    if size > left:
        raise SkillLimitError(f"the repository unpacks to more than {MAX_UNPACKED} bytes")
    if kind == OFFSET_DELTA:
        _, at = _number(data, at)
    elif kind == NAMED_DELTA:
        at += 20
    content, at = _inflated(data, at, size)
    if kind in (OFFSET_DELTA, NAMED_DELTA):
        _, start = _number(content, 0)
        size += _number(content, start)[0]
        if size > left:
            raise SkillLimitError(f"the repository unpacks to more than {MAX_UNPACKED} bytes")
    return at, size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, the lowest first, and the offset after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at += 1
        if not data[at - 1] & 128:
            return value, at
        shift += 7
        if shift > 56:
            raise IndexError


def _inflated(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Return the content at an offset, which must have that size, and the offset after it."""
    engine = zlib.decompressobj()
    parts, room = [], size + 1
    while not engine.eof:
        fed = engine.unconsumed_tail or data[at : at + CHUNK]
        if not engine.unconsumed_tail:
            at += len(fed)
        if not fed or not room:
            raise IndexError
        parts.append(engine.decompress(fed, room))
        room -= len(parts[-1])
    content = b"".join(parts)
    if len(content) != size:
        raise IndexError
    return content, at - len(engine.unused_data)


def _archive(repo: Any, tree: Any, below: str) -> bytes:
    """Return the files of a tree as a zip archive; the same tree gives the same bytes."""
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    written = io.BytesIO()
    total = count = 0
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, mode, sha in _walk(repo, tree):
            if not path.startswith(prefix):
                continue
            content = repo.object_store[sha].data
            total, count = total + len(content), count + 1
            if total > MAX_BYTES or count > MAX_FILES:
                held = f"more than {MAX_FILES} files or {MAX_BYTES} bytes"
                raise SkillLimitError(f"the repository holds {held}; name a directory")
            info = zipfile.ZipInfo(path, _FIXED)
            kept = mode if stat.S_ISLNK(mode) else stat.S_IFREG | (mode & 0o777)
            info.external_attr = kept << 16
            archive.writestr(info, content)
    return written.getvalue()


def _walk(repo: Any, root: Any) -> Iterator[tuple[str, int, Any]]:
    """Yield (path, mode, id) for each file of a tree, without submodules."""
    pending = [("", root, 0)]
    trees = 0
    while pending:
        prefix, sha, depth = pending.pop()
        trees += 1
        if trees > MAX_TREES or depth > DEPTH_MAX:
            raise SkillLimitError("the repository has too many directories, or too deep ones")
        for entry in repo.object_store[sha].items():
            name = str(entry.path, "utf-8", "surrogateescape")
            if name in SKIPPED_DIRECTORIES or entry.mode == SUBMODULE:
                continue
            if stat.S_ISDIR(entry.mode):
                pending.append((f"{prefix}{name}/", entry.sha, depth + 1))
            else:
                yield prefix + name, entry.mode, entry.sha
