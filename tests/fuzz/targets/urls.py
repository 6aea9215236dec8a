"""URLs and what a policy says of them: no spelling reaches a host that the policy does not name."""

from __future__ import annotations

from agentsandbox import NetworkPolicy
from agentsandbox.network.addresses import parse_target
from tests.fuzz.judge import Problem, judged
from tests.fuzz.target import Target

POLICY = NetworkPolicy(allow=["https://api.example.com/v1/", "http://*.example.org"])


def run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    target = judged(lambda: parse_target(text), (ValueError,))
    if target is None:
        return
    refusal = judged(lambda: POLICY.refuses_target(target, "GET"))  # type: ignore[arg-type]
    host, path = target.host, target.request_target  # type: ignore[attr-defined]
    if not refusal:
        one = (
            host == "api.example.com"
            and path.startswith("/v1/")
            and ".." not in path.partition("?")[0].split("/")
        )
        if not one and not host.endswith(".example.org"):
            raise Problem("allowed", "policy.py", f"{text!r}: {host} {path}")
    if any(c <= " " or c == "\x7f" for c in host + path):
        raise Problem("a control character", "addresses.py", repr(text))


TARGET = Target(
    "urls",
    run,
    lambda count: [
        b"https://api.example.com/v1/x?y=z#w", b"http://a.example.org:80/", b"https://api.example.com/v1/../x", b"http://[::1]:80/",
        b"https://api.example.com@evil.test/v1/", b"http://0x7f.1/", b"https://api.example.com/v1/%2e%2e/x", "http://ex\u00e4mple.org/".encode(),
    ],
    (
        b"https://", b"http://", b"api.example.com", b".example.org", b"/v1/", b"..", b"%2e", b"%2f", b"%5c", b"\\", b"@", b":", b"[::ffff:", b"]",
        b"%00", b"\t", b";", b"?", b"#", b"xn--", b"0x7f", b"2130706433", b".", "\u3002".encode(), "\uff0e".encode(), "\u2100".encode(),
    ),
)  # fmt: skip
