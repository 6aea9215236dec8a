import base64
import binascii
import hashlib
import hmac
import secrets
import string
import uuid
import zlib

for name in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b", "blake2s"):
    print(name, hashlib.new(name, b"abc").hexdigest()[:32])
h = hashlib.sha256()
for piece in (b"a", b"b", b"c"):
    h.update(piece)
print(
    h.hexdigest() == hashlib.sha256(b"abc").hexdigest(),
    h.digest_size,
    h.block_size,
    hashlib.shake_128(b"x").hexdigest(8),
)
print(hmac.new(b"key", b"msg", "sha256").hexdigest(), hmac.compare_digest("a", "a"))
print(hashlib.pbkdf2_hmac("sha256", b"pw", b"salt", 1000).hex())
print(
    base64.b64encode(b"\xff\xfe?"),
    base64.urlsafe_b64encode(b"\xff\xfe?"),
    base64.b32encode(b"hi"),
    base64.b85encode(b"hello"),
    base64.a85encode(b"hello"),
    base64.b16encode(b"\x01"),
    base64.b64decode("aGk="),
    base64.encodebytes(b"x" * 60),
)
print(
    binascii.hexlify(b"ab"),
    binascii.crc32(b"abc"),
    binascii.unhexlify("6162"),
    binascii.b2a_uu(b"uu"),
)
print(
    uuid.uuid5(uuid.NAMESPACE_DNS, "example.test"),
    uuid.uuid3(uuid.NAMESPACE_URL, "x"),
    uuid.UUID(int=5),
    uuid.UUID("{12345678-1234-5678-1234-567812345678}").version,
    len(str(uuid.uuid4())),
)
print(
    len(secrets.token_hex(8)),
    secrets.choice("aa"),
    len(secrets.token_urlsafe()),
    string.hexdigits,
    string.capwords("a bc"),
)
try:
    hashlib.new("sha0")
except ValueError as e:
    print(type(e).__name__)
base64.b64decode("abc")
