"""Bytes as text: base64, base32, basenc, uuencode."""
