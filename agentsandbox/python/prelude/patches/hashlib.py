"""`hashlib` with the key derivation that CPython takes from OpenSSL."""


def apply(module):
    """Add `pbkdf2_hmac` where the build has none."""
    if hasattr(module, "pbkdf2_hmac"):
        return

    def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
        """Return a key of `dklen` bytes derived from a password (RFC 8018)."""
        import hmac

        password, salt = bytes(password), bytes(salt)
        if iterations < 1:
            raise ValueError("iteration value must be greater than 0.")
        size = module.new(hash_name).digest_size
        wanted = size if dklen is None else dklen
        if wanted < 1:
            raise ValueError("key length must be greater than 0.")
        key = b""
        block = 0
        while len(key) < wanted:
            block += 1
            last = hmac.digest(password, salt + block.to_bytes(4, "big"), hash_name)
            total = int.from_bytes(last, "big")
            for _ in range(iterations - 1):
                last = hmac.digest(password, last, hash_name)
                total ^= int.from_bytes(last, "big")
            key += total.to_bytes(size, "big")
        return key[:wanted]

    module.pbkdf2_hmac = pbkdf2_hmac
