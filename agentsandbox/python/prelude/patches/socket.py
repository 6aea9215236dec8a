"""`socket` without a network: a connection is refused by name, with errors that scripts expect."""

NETWORK = "the network is not available in this sandbox's Python"
ENETUNREACH = 101


def apply(module):
    """Refuse new sockets with OSError and look-ups of names with gaierror."""
    original = module.socket

    class socket(original):
        """A socket; making one raises OSError."""

        __slots__ = ()

        def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
            raise OSError(ENETUNREACH, NETWORK)

        def __del__(self):
            """Close nothing: there never was a socket."""

    socket.__module__, socket.__qualname__ = "socket", "socket"
    module.EAI_AGAIN, module.EAI_NONAME, module.EAI_SERVICE, module.EAI_FAMILY = -3, -2, -8, -6

    def refuse_names(*args, **more):
        raise module.gaierror(module.EAI_AGAIN, NETWORK)

    def refuse(*args, **more):
        raise OSError(ENETUNREACH, NETWORK)

    module.socket = module.SocketType = socket
    for name in (
        "getaddrinfo",
        "gethostbyname",
        "gethostbyname_ex",
        "gethostbyaddr",
        "getnameinfo",
    ):
        setattr(module, name, refuse_names)
    for name in ("socketpair", "fromfd", "create_connection", "create_server"):
        setattr(module, name, refuse)
    module.gethostname = lambda: host_name()
    module.getfqdn = lambda name="": name or host_name()
    module.has_dualstack_ipv6 = lambda: False


def host_name():
    """Return the name of the sandbox."""
    import _agentsandbox

    return _agentsandbox.process.hostname
