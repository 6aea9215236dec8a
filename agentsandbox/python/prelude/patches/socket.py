"""`socket` on the sandbox's own loopback, and for HTTP to hosts that the host program allows.

A socket has no number until it listens or connects; then it is an open file of the guest, so
`select`, `selectors` and `os.read` know it. A name outside resolves to an address of 198.18.0.0/15
that stands for it in this program; a connection to such an address understands HTTP only (see
`agentsandbox/python/sockets.py`). Everything else is refused by name.
"""

import os
import select

from _agentsandbox import errors
from _agentsandbox.patches.select import turns_of_others

NETWORK = "the network is not available in this sandbox's Python"
ENETUNREACH, EINVAL, ENOTCONN, EISCONN, EAGAIN, EPROTONOSUPPORT = 101, 22, 107, 106, 11, 93
EOPNOTSUPP, EAFNOSUPPORT, EBADF, EADDRNOTAVAIL = 95, 97, 9, 99
PIECE = 65536
CONSTANTS = {
    "SHUT_RD": 0,
    "SHUT_WR": 1,
    "SHUT_RDWR": 2,
    "SO_REUSEADDR": 2,
    "SO_ERROR": 4,
    "SO_SNDBUF": 7,
    "SO_RCVBUF": 8,
    "SO_KEEPALIVE": 9,
    "SO_LINGER": 13,
    "SO_ACCEPTCONN": 30,
}
"""Names that WASI does not have or gives other values; on a loopback in memory a port is always
free again, and buffers, keepalive and lingering change nothing.
"""
WAYS = dict.fromkeys("accept recv recv_into recvfrom recvfrom_into".split(), select.POLLIN)
WAYS |= dict.fromkeys("send sendall sendto sendmsg".split(), select.POLLOUT)
OWN = "127.0.0.1"


class Names:
    """The addresses that stand for names outside, and the door."""

    by_name = {}
    by_address = {}
    ends = {}
    """The addresses, its own and the other side's, of each open socket."""
    door = None

    @classmethod
    def is_inside(cls, fd):
        """Whether the other side of a connection is in this program, or its server is."""
        port = cls.ends[fd][1][1] if fd in cls.ends else 0
        return port != 0 and any(own[1] == port for own, _ in cls.ends.values())

    @classmethod
    def ask(cls, op, **fields):
        """Return the answer to a question about sockets, or raise its OSError."""
        if cls.door is None:
            import _agentsandbox

            cls.door = _agentsandbox.door
        return cls.door.demand("socket-" + op, **fields)

    @classmethod
    def address_of(cls, name):
        """Return the address that stands for a name."""
        found = cls.by_name.get(name)
        if found is None:
            number = len(cls.by_name) + 1
            found = f"198.{18 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"
            cls.by_name[name] = found
            cls.by_address[found] = name
        return found


def apply(module):
    """Use sockets of the sandbox."""
    original = module.socket
    error = errors.error

    def resolved(host):
        """Return the address of a host; gaierror for one that may not be reached."""
        if host in (None, ""):
            return OWN
        if isinstance(host, bytes):
            host = host.decode("ascii")
        if host in ("0.0.0.0", "::", "::1", OWN, "localhost", "<broadcast>"):
            return OWN
        if host in Names.by_address or (host.startswith("127.") and numeric(host)):
            return host
        answer = Names.ask("resolve", host=host)
        if answer["where"] == "own":
            return OWN
        if answer["where"] == "outside":
            return host if numeric(host) else Names.address_of(host.lower())
        if not answer["why"]:
            raise module.gaierror(module.EAI_AGAIN, NETWORK)
        raise module.gaierror(module.EAI_NONAME, f"Name or service not known: {answer['why']}")

    class socket(original):
        """A socket of the sandbox: TCP on its loopback, HTTP to hosts outside."""

        _sandbox_ways = WAYS
        __slots__ = (
            "_context",
            "_fd",
            "_is_bound",
            "_is_listening",
            "_is_tls",
            "_kind",
            "_name",
            "_options",
            "_other",
            "_own",
            "_timeout",
        )  # fmt: skip

        def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
            family = module.AF_INET if family == -1 else family
            type = module.SOCK_STREAM if type == -1 else type
            self._fd, self._io_refs, self._closed = -1, 0, True
            if type != module.SOCK_STREAM:
                raise OSError(EPROTONOSUPPORT, "only TCP is available in this sandbox's Python")
            if family not in (module.AF_INET, module.AF_INET6):
                raise OSError(EAFNOSUPPORT, "only AF_INET is available in this sandbox's Python")
            self._closed = False
            self._kind = family, module.SocketKind(type), max(proto, 0)
            self._timeout = module.getdefaulttimeout()
            self._own = self._other = ("0.0.0.0", 0)
            self._options = {}
            self._is_bound = self._is_listening = self._is_tls = False
            self._context = self._name = None
            if fileno is not None:
                self._fd = fileno

        @classmethod
        def _of(cls, answer):
            """Return a connected socket of an answer of the host."""
            made = cls()
            made._take(answer)
            return made

        def _take(self, answer):
            self._fd = answer["fd"]
            self._own, self._other = tuple(answer["own"]), tuple(answer["other"])
            Names.ends[self._fd] = self._own, self._other

        @property
        def family(self):
            """The family of its addresses."""
            return self._kind[0]

        @property
        def type(self):
            """SOCK_STREAM."""
            return self._kind[1]

        @property
        def proto(self):
            """The protocol."""
            return self._kind[2]

        @property
        def timeout(self):
            """Seconds that an operation may take; None for any time."""
            return self._timeout

        def __repr__(self):
            kind = self.__class__
            closed = " [closed]" if self._closed else ""
            return (
                f"<{kind.__module__}.{kind.__qualname__}{closed} fd={self._fd}, "
                f"family={int(self.family)}, type={int(self.type)}, proto={self.proto}, "
                f"laddr={self._own}, raddr={self._other}>"
            )

        def fileno(self):
            """Return the number of the open file; -1 before it listens or connects."""
            return self._fd

        def _open(self):
            if self._fd < 0:
                raise error(EBADF if self._closed else ENOTCONN)
            return self._fd

        def _wait(self, way):
            """Wait until the socket is ready, as its timeout says."""
            fd = self._open()
            if self._timeout is None and turns_of_others() is None:
                return fd
            poll = select.poll()
            poll.register(fd, way)
            if not poll.poll(None if self._timeout is None else self._timeout * 1000):
                if self._timeout == 0:
                    raise error(EAGAIN)
                raise TimeoutError("timed out")
            return fd

        # addresses

        def bind(self, address):
            """Take an address of the sandbox; port 0 is a free one."""
            host, port = address[:2]
            if self._is_bound or self._fd >= 0:
                raise error(EINVAL)
            if not isinstance(port, int) or not 0 <= port <= 65535:
                raise OverflowError("bind(): port must be 0-65535.")
            where = resolved(host)
            if where != OWN:
                raise error(EADDRNOTAVAIL)
            port = Names.ask("free-port", port=port)["port"]
            self._own = ("0.0.0.0" if host in ("", None, "0.0.0.0", "::") else OWN, port)
            self._is_bound = True

        def listen(self, backlog=128):
            """Accept connections."""
            if self._fd < 0:
                host, port = self._own
                self._take(Names.ask("listen", host=host, port=port, backlog=max(0, backlog)))
                self._is_listening = True

        def accept(self):
            """Return (socket, address) of the next connection."""
            if not self._is_listening:
                raise error(EINVAL)
            fd = self._wait(select.POLLIN)
            made = module.socket._of(Names.ask("accept", fd=fd))
            made.settimeout(module.getdefaulttimeout())
            return made, made._other

        def connect(self, address):
            """Connect to a port of the sandbox, or to a host that may be reached by HTTP."""
            host, port = address[:2]
            if self._fd >= 0:
                raise error(EISCONN)
            if self._closed:
                raise error(EBADF)
            if not isinstance(port, int) or not 0 <= port <= 65535:
                raise OverflowError("connect(): port must be 0-65535.")
            where = resolved(host)
            name = Names.by_address.get(where, where)
            if where == OWN and isinstance(host, str) and host:
                name = host
            try:
                self._take(Names.ask("connect", host=name, port=port))
            except OSError as failure:
                if failure.errno == ENETUNREACH:
                    raise OSError(ENETUNREACH, NETWORK) from None
                raise
            self._other = (where, port)

        def connect_ex(self, address):
            """Connect and return the error's number, 0 for none."""
            try:
                self.connect(address)
            except OSError as failure:
                return failure.errno or EINVAL
            return 0

        def getsockname(self):
            """Return its own address."""
            return self._own

        def getpeername(self):
            """Return the other side's address."""
            if self._fd < 0 or self._is_listening:
                raise error(ENOTCONN)
            return self._other

        # bytes

        def _failed(self, failure):
            """Return the exception for an error of a connection."""
            if self._is_tls and failure.errno in (104, 71):
                import ssl

                text = Names.ask("failure", fd=self._fd)["text"]
                if "certificate" in text or "self-signed" in text:
                    return ssl.SSLCertVerificationError(1, f"certificate verify failed: {text}")
                if text:
                    return ssl.SSLError(1, text)
            if failure.errno == 110:
                return TimeoutError(110, "timed out")
            return failure

        def recv(self, size, flags=0):
            """Return up to `size` bytes."""
            peeks = flags & getattr(module, "MSG_PEEK", 2)
            if peeks:
                raise OSError(EOPNOTSUPP, "MSG_PEEK is not available in this sandbox's Python")
            fd = self._wait(select.POLLIN)
            try:
                return os.read(fd, size)
            except OSError as failure:
                raise self._failed(failure) from None

        def recv_into(self, buffer, nbytes=0, flags=0):
            """Read into a buffer and return how many bytes were read."""
            view = memoryview(buffer).cast("B")
            data = self.recv(nbytes or len(view), flags)
            view[: len(data)] = data
            return len(data)

        def recvfrom(self, size, flags=0):
            """Return (bytes, address)."""
            return self.recv(size, flags), self._other

        def recvfrom_into(self, buffer, nbytes=0, flags=0):
            """Read into a buffer and return (count, address)."""
            return self.recv_into(buffer, nbytes, flags), self._other

        def send(self, data, flags=0):
            """Send some of the bytes and return how many."""
            view = memoryview(data).cast("B")[:PIECE]
            fd = self._wait(select.POLLOUT)
            try:
                return os.write(fd, view) if len(view) else 0
            except OSError as failure:
                raise self._failed(failure) from None

        def sendall(self, data, flags=0):
            """Send all bytes."""
            view = memoryview(data).cast("B")
            while len(view):
                view = view[self.send(view) :]

        def sendto(self, data, *rest):
            """Send bytes on a connected socket."""
            return self.send(data)

        def sendfile(self, file, offset=0, count=None):
            """Send a file and return how many bytes were sent."""
            return self._sendfile_use_send(file, offset, count)

        def sendmsg(self, buffers, *rest):
            """Send bytes of several buffers and return how many were sent."""
            return self.send(b"".join(buffers))

        def shutdown(self, how):
            """End one direction or both."""
            Names.ask("shutdown", fd=self._open(), how=int(how))

        def makefile(self, mode="r", buffering=None, **more):
            """Return a file of the connection, as CPython does."""
            return original.makefile(self, mode, buffering, **more)

        def dup(self):
            """Return another socket for the same connection."""
            made = self.__class__(*self._kind)
            made._fd = os.dup(self._open())
            made._own, made._other, made._is_tls = self._own, self._other, self._is_tls
            made._is_listening = self._is_listening
            made.settimeout(self._timeout)
            return made

        def detach(self):
            """Return the number, which the socket owns no more."""
            fd, self._fd = self._fd, -1
            self._closed = True
            Names.ends.pop(fd, None)
            return fd

        def _real_close(self, _ss=None):
            fd, self._fd = self._fd, -1
            Names.ends.pop(fd, None)
            if fd >= 0:
                os.close(fd)

        def close(self):
            """Close the socket; its files may still be used."""
            self._closed = True
            if self._io_refs <= 0:
                self._real_close()

        def _decref_socketios(self):
            if self._io_refs > 0:
                self._io_refs -= 1
            if self._closed:
                self.close()

        def __del__(self):
            """Close what nobody can reach any more."""
            if getattr(self, "_fd", -1) >= 0:
                fd, self._fd = self._fd, -1
                Names.ends.pop(fd, None)
                try:
                    os.close(fd)
                except OSError:
                    pass

        # settings

        def settimeout(self, seconds):
            """Let operations take at most `seconds`; None for any time, 0 for none."""
            if seconds is not None and seconds < 0:
                raise ValueError("Timeout value out of range")
            self._timeout = None if seconds is None else float(seconds)

        def gettimeout(self):
            """Return the timeout."""
            return self._timeout

        def setblocking(self, flag):
            """Wait for any time, or for none."""
            self._timeout = None if flag else 0.0

        def getblocking(self):
            """Whether operations wait."""
            return self._timeout != 0

        def setsockopt(self, level, name, value, length=None):
            """Remember an option."""
            self._options[level, name] = value

        def getsockopt(self, level, name, size=0):
            """Return an option: no error, or what was set."""
            value = self._options.get((level, name), 0)
            if level == module.SOL_SOCKET and name in (module.SO_TYPE, module.SO_ACCEPTCONN):
                value = int(self.type) if name == module.SO_TYPE else int(self._is_listening)
            return value if not size else int(value).to_bytes(size, "little")

        def get_inheritable(self):
            """Return False: no child gets it."""
            return False

        def set_inheritable(self, inheritable):
            """Refuse to pass a socket to children."""
            if inheritable:
                raise OSError(EOPNOTSUPP, "sockets of this sandbox's Python are not inherited")

        def _start_tls(self, context, name):
            """Make a connection to a host outside one of https."""
            import ssl

            verify = context.verify_mode != ssl.CERT_NONE
            try:
                Names.ask("tls", fd=self._open(), verify=verify)
            except OSError:
                raise ssl.SSLError(
                    1, "wrong version number: TLS ends outside this sandbox"
                ) from None
            self._is_tls, self._context, self._name = True, context, name

    socket.__module__, socket.__qualname__ = "socket", "socket"
    vars(module).update(CONSTANTS)
    module.EAI_AGAIN, module.EAI_NONAME, module.EAI_SERVICE, module.EAI_FAMILY = -3, -2, -8, -6
    module.socket = module.SocketType = socket
    module.has_ipv6 = False
    set_names(module, resolved)
    set_makers(module, socket)


def numeric(host):
    """Whether a host is an IPv4 address."""
    parts = host.split(".")
    return len(parts) == 4 and all(part.isdecimal() and int(part) < 256 for part in parts)


def set_names(module, resolved):
    """Replace the functions that look names up."""

    def port_of(port):
        if port is None:
            return 0
        if isinstance(port, int):
            return port
        text = port.decode() if isinstance(port, bytes) else port
        if text.isdecimal():
            return int(text)
        known = {"http": 80, "https": 443}
        if text not in known:
            raise module.gaierror(module.EAI_SERVICE, "Servname not supported for ai_socktype")
        return known[text]

    def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        """Return the address of a host in the sandbox or of one that may be reached."""
        if family not in (0, module.AF_INET):
            raise module.gaierror(module.EAI_FAMILY, "Address family for hostname not supported")
        passive = flags & getattr(module, "AI_PASSIVE", 1) and host is None
        address = "0.0.0.0" if passive else resolved(host)
        kind = module.SocketKind(type or module.SOCK_STREAM)
        return [(module.AF_INET, kind, proto or 6, "", (address, port_of(port)))]

    def gethostbyname(host):
        """Return the address of a host."""
        return resolved(host)

    def gethostbyname_ex(host):
        """Return (name, other names, addresses) of a host."""
        return host, [], [resolved(host)]

    def gethostbyaddr(address):
        """Return (name, other names, addresses) of an address."""
        where = resolved(address)
        return name_of(where), [], [where]

    def getnameinfo(address, flags):
        """Return (host, port) as texts."""
        host, port = address[:2]
        is_number = flags & getattr(module, "NI_NUMERICHOST", 1)
        return (host if is_number else name_of(resolved(host))), str(port)

    def name_of(address):
        return "localhost" if address == OWN else Names.by_address.get(address, address)

    for function in (getaddrinfo, gethostbyname, gethostbyname_ex, gethostbyaddr, getnameinfo):
        setattr(module, function.__name__, function)
    module.gethostname = lambda: host_name()
    module.getfqdn = lambda name="": "localhost" if name in (OWN, "::1") else name or host_name()
    module.has_dualstack_ipv6 = lambda: False


def set_makers(module, socket):
    """Replace the functions that make sockets of other kinds, or that CPython's C code makes."""

    def create_server(
        address, *, family=None, backlog=None, reuse_port=False, dualstack_ipv6=False
    ):
        """Return a listening socket."""
        made = socket()
        try:
            made.bind(address)
            made.listen(128 if backlog is None else backlog)
        except BaseException:
            made.close()
            raise
        return made

    def socketpair(family=None, type=None, proto=0):
        """Return two connected sockets."""
        with create_server((OWN, 0), backlog=1) as server:
            one = socket()
            one.connect(server.getsockname())
            other, _ = server.accept()
        return one, other

    def fromfd(fd, family, type, proto=0):
        """Return a socket for the number of an open one."""
        return socket(family, type, proto, os.dup(fd))

    for function in (create_server, socketpair, fromfd):
        setattr(module, function.__name__, function)


def host_name():
    """Return the name of the sandbox."""
    import _agentsandbox

    return _agentsandbox.process.hostname
