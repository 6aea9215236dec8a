"""`openssl`: digests, base64, random bytes, and ciphers with a password or a key."""
