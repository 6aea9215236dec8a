"""Bytes as text: base64, base32, uuencode."""
