"""The network policy: nothing unless allowed, and no URL that can be read in two ways."""

from __future__ import annotations

import pytest

from agentsandbox.network import NetworkPolicy

POLICY = NetworkPolicy(
    ["https://api.example.com/v1", "http://example.org:8080"], methods=["GET", "POST"]
)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "https://api.example.com/v1/users?x=1",
        "https://API.example.com:443/v1/",
        "http://example.org:8080/any",
    ],
)
def test_what_is_allowed(url: str) -> None:
    assert POLICY.refusal(url) is None
    assert NetworkPolicy().refusal(url)


# TM-NET-1, TM-NET-2
@pytest.mark.parametrize(
    "url",
    ["https://api.example.com/v10", "https://api.example.com/", "http://api.example.com/v1",
     "https://api.example.com.evil.org/v1",
     "https://user@api.example.com/v1", "https://api.example.com/v1/../admin",
     "https://api.example.com/v1/%2e%2e/admin",
     "https://api.example.com/v1/..%2fadmin", "https://api.example.com\\@evil.org/v1",
     "https://api.example.com/v1\r\nHost: evil",
     "file:///etc/passwd", "ftp://example.org:8080/", "//example.org", "", "https://",
     "http://example.org:8081/", "http://example.org:99999/",
     "https://аpi.example.com/v1"],
)  # fmt: skip
def test_what_is_refused(url: str) -> None:
    assert POLICY.refusal(url)


def test_methods() -> None:
    assert POLICY.refusal("http://example.org:8080/", "post") is None
    assert POLICY.refusal("http://example.org:8080/", "DELETE")


# TM-NET-3
@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:127.0.0.1",
     "0.0.0.0", "224.0.0.1", "x", "",
     "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:7f00:1::", "::7f00:1",
     "fec0::1", "fc00::1", "ff02::1", "100.64.0.1"],
)  # fmt: skip
def test_private_addresses(address: str) -> None:
    assert POLICY.refuses_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "2606:4700::1111",
        "64:ff9b::5db8:d822",
        "2002:5db8:d822::1",
        "::ffff:93.184.216.34",
    ],
)
def test_public_addresses(address: str) -> None:
    assert POLICY.refuses_address(address) is None


def test_a_policy_is_a_value() -> None:
    with pytest.raises(AttributeError):
        POLICY.timeout = 1
    with pytest.raises(TypeError):
        NetworkPolicy("https://example.com")
    with pytest.raises(ValueError, match="positive"):
        NetworkPolicy(timeout=0)
