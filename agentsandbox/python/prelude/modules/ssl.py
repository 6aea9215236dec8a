"""`ssl` without TLS of its own: the side of the host program encrypts.

Contexts can be made and configured. `wrap_socket` marks a connection to a host outside as https;
the host's client makes the connection, checks the certificate (unless `verify_mode` is CERT_NONE)
and asks the network policy. Everything else is refused by name.
"""

import enum
import socket

REFUSAL = (
    "TLS inside this sandbox is not available: only HTTPS requests to hosts that the network "
    "policy allows are encrypted, by the host program"
)

OPENSSL_VERSION = "OpenSSL 1.1.1 (TLS is done by the host program)"
OPENSSL_VERSION_INFO = (1, 1, 1, 0, 0)
OPENSSL_VERSION_NUMBER = 0x101010CF
HAS_SNI = HAS_ALPN = HAS_TLSv1_2 = HAS_TLSv1_3 = HAS_ECDH = True
HAS_NPN = HAS_SSLv2 = HAS_SSLv3 = HAS_TLSv1 = HAS_TLSv1_1 = False
HAS_NEVER_CHECK_COMMON_NAME = True
PEM_HEADER, PEM_FOOTER = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
CHANNEL_BINDING_TYPES = ["tls-unique"]
OP_ALL, OP_NO_SSLv2, OP_NO_SSLv3, OP_NO_COMPRESSION = 0x80000050, 0, 0x2000000, 0x20000
OP_NO_TLSv1, OP_NO_TLSv1_1, OP_NO_TLSv1_2, OP_NO_TLSv1_3 = 1 << 26, 1 << 28, 1 << 27, 1 << 29
OP_NO_TICKET, OP_SINGLE_DH_USE, OP_SINGLE_ECDH_USE = 0x4000, 0, 0
OP_CIPHER_SERVER_PREFERENCE, OP_NO_RENEGOTIATION = 0x400000, 1 << 30
OP_LEGACY_SERVER_CONNECT, OP_IGNORE_UNEXPECTED_EOF = 4, 0x80


class VerifyMode(enum.IntEnum):
    """How certificates are checked."""

    CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = 0, 1, 2


class VerifyFlags(enum.IntFlag):
    """Details of the check of certificates."""

    VERIFY_DEFAULT, VERIFY_X509_STRICT, VERIFY_X509_TRUSTED_FIRST = 0, 0x20, 0x8000
    VERIFY_X509_PARTIAL_CHAIN = 0x80000


class TLSVersion(enum.IntEnum):
    """Versions of the protocol."""

    MINIMUM_SUPPORTED, SSLv3, TLSv1, TLSv1_1 = -2, 768, 769, 770
    TLSv1_2, TLSv1_3, MAXIMUM_SUPPORTED = 771, 772, -1


class Purpose(enum.Enum):
    """What a context is for."""

    SERVER_AUTH, CLIENT_AUTH = "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"


class Options(enum.IntFlag):
    """Options of a context."""

    OP_ALL, OP_NO_SSLv3, OP_NO_TICKET = OP_ALL, OP_NO_SSLv3, OP_NO_TICKET
    OP_NO_COMPRESSION, OP_NO_TLSv1, OP_NO_TLSv1_1 = OP_NO_COMPRESSION, OP_NO_TLSv1, OP_NO_TLSv1_1


CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = VerifyMode
VERIFY_DEFAULT, VERIFY_X509_STRICT = VerifyFlags.VERIFY_DEFAULT, VerifyFlags.VERIFY_X509_STRICT
VERIFY_X509_TRUSTED_FIRST = VerifyFlags.VERIFY_X509_TRUSTED_FIRST
VERIFY_X509_PARTIAL_CHAIN = VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
PROTOCOL_SSLv23 = PROTOCOL_TLS = 2
PROTOCOL_TLSv1, PROTOCOL_TLSv1_1, PROTOCOL_TLSv1_2 = 3, 4, 5
PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = 16, 17


class SSLError(OSError):
    """TLS failed: here, it is not available."""

    library = reason = None


class SSLZeroReturnError(SSLError):
    """The other side closed the connection."""


class SSLWantReadError(SSLError):
    """More must be read."""


class SSLWantWriteError(SSLError):
    """More must be written."""


class SSLSyscallError(SSLError):
    """A system call failed."""


class SSLEOFError(SSLError):
    """The connection ended early."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate is not valid."""


CertificateError = SSLCertVerificationError


def _refuse(*args, **more):
    raise SSLError(REFUSAL)


class SSLContext:
    """Settings of TLS, which nothing can use here."""

    def __init__(self, protocol=PROTOCOL_TLS, *args, **more):
        self.protocol = protocol
        client = protocol == PROTOCOL_TLS_CLIENT
        self.check_hostname = client
        self.verify_mode = CERT_REQUIRED if client else CERT_NONE
        self.verify_flags = VERIFY_X509_TRUSTED_FIRST
        self.options = OP_ALL
        self.minimum_version = TLSVersion.TLSv1_2
        self.maximum_version = TLSVersion.MAXIMUM_SUPPORTED
        self.post_handshake_auth = False
        self.keylog_filename = None
        self.sni_callback = None

    def set_alpn_protocols(self, protocols):
        """Accept a setting that nothing uses."""

    set_ciphers = set_default_verify_paths = set_npn_protocols = set_alpn_protocols

    def load_default_certs(self, purpose=Purpose.SERVER_AUTH):
        """Load nothing: there are no certificates."""

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        """Check that the file is there; nothing uses it."""
        if cafile is not None:
            with open(cafile, "rb"):
                pass

    def get_ca_certs(self, binary_form=False):
        """Return the certificates: there are none."""
        return []

    def cert_store_stats(self):
        """Return how many certificates there are."""
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    def wrap_socket(
        self, sock, server_side=False, do_handshake_on_connect=True, suppress_ragged_eofs=True,
        server_hostname=None, session=None,
    ):  # fmt: skip
        """Return a connection to a host outside as one with TLS."""
        if server_side:
            raise SSLError(REFUSAL)
        if self.check_hostname and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        sock._start_tls(self, server_hostname)
        made = SSLSocket(*sock._kind)
        made._own, made._other, made._is_tls = sock._own, sock._other, True
        made._context, made._name = self, server_hostname
        made.settimeout(sock.gettimeout())
        made._fd = sock.detach()
        return made

    load_cert_chain = wrap_bio = _refuse


class SSLSocket(socket.socket):
    """A connection to a host outside, encrypted by the host program."""

    __slots__ = ()

    @property
    def context(self):
        """The context that made it."""
        return self._context

    @property
    def server_hostname(self):
        """The name of the server."""
        return self._name

    @property
    def _sslobj(self):
        """What packages look at for the protocol."""
        return self

    server_side, session, session_reused = False, None, False

    def read(self, len=1024, buffer=None):
        """Read bytes, into a buffer if there is one."""
        return self.recv(len) if buffer is None else self.recv_into(buffer, len)

    def write(self, data):
        """Send bytes."""
        return self.send(data)

    def getpeercert(self, binary_form=False):
        """Return the names that the host program has checked; no bytes of a certificate."""
        if binary_form:
            return None
        name = self._name or ""
        checked = self._context.verify_mode != CERT_NONE
        names = {"subject": ((("commonName", name),),), "subjectAltName": (("DNS", name),)}
        return names if checked else {}

    def version(self):
        """Return the version of the protocol."""
        return "TLSv1.3"

    def cipher(self):
        """Return None: the host program knows it."""
        return

    def selected_alpn_protocol(self):
        """Return the protocol of the application."""
        return "http/1.1"

    def do_handshake(self, block=False):
        """Do nothing: the host program makes the connection with the first request."""

    def pending(self):
        """Return how many bytes are decrypted already: none."""
        return 0

    def unwrap(self):
        """Return the connection."""
        return self

    selected_npn_protocol = compression = shared_ciphers = cipher


class SSLObject:
    """A connection with TLS over buffers: there is none here."""

    __init__ = _refuse


class MemoryBIO:
    """A buffer for TLS: there is none here."""

    __init__ = _refuse


class SSLSession:
    """A session of TLS: there is none here."""

    __init__ = _refuse


def create_default_context(purpose=Purpose.SERVER_AUTH, *, cafile=None, capath=None, cadata=None):
    """Return the settings for a purpose."""
    context = SSLContext(
        PROTOCOL_TLS_CLIENT if purpose == Purpose.SERVER_AUTH else PROTOCOL_TLS_SERVER
    )
    if cafile or capath or cadata:
        context.load_verify_locations(cafile, capath, cadata)
    return context


def _create_unverified_context(protocol=None, **more):
    context = SSLContext(PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = CERT_NONE
    return context


_create_stdlib_context = _create_unverified_context
_create_default_https_context = create_default_context
wrap_socket = get_server_certificate = cert_time_to_seconds = match_hostname = _refuse
RAND_status = lambda: True  # noqa: E731
RAND_add = lambda *args: None  # noqa: E731


def RAND_bytes(n):
    """Return random bytes."""
    import os

    return os.urandom(n)


class DefaultVerifyPaths(tuple):
    """Where certificates would be: nowhere."""

    __slots__ = ()
    cafile = capath = None
    openssl_cafile_env, openssl_capath_env = "SSL_CERT_FILE", "SSL_CERT_DIR"
    openssl_cafile = openssl_capath = ""


def get_default_verify_paths():
    """Return where certificates would be: nowhere."""
    return DefaultVerifyPaths()
