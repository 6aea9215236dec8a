import html
import http
import http.cookies
import ipaddress
import mimetypes
import urllib.parse as up
from http import HTTPStatus
from urllib.request import Request
from urllib.robotparser import RobotFileParser

u = up.urlsplit("https://user:pw@Host.test:8443/a%20b/c;p?q=1&q=2&e=#frag")
print(
    u,
    u.hostname,
    u.port,
    up.parse_qs(u.query),
    up.parse_qsl(u.query, keep_blank_values=True),
    u._replace(query="").geturl(),
)
print(
    up.quote("a b/ü&"),
    up.quote_plus("a b/ü"),
    up.unquote("%C3%BC+%zz"),
    up.urlencode({"a": [1, 2], "b": "x y"}, doseq=True),
    up.urljoin("http://h/a/b", "../c?d"),
    up.urlunsplit(("http", "h", "/p", "q", "")),
)
c = http.cookies.SimpleCookie("a=1; b=two words")
c["s"] = "v;x"
c["s"]["httponly"] = True
c["s"]["max-age"] = 60
print({k: m.value for k, m in c.items()}, c["s"].OutputString())
print(
    HTTPStatus(404).phrase,
    HTTPStatus.OK.value,
    http.HTTPMethod.GET,
    mimetypes.guess_type("a.tar.gz"),
    mimetypes.guess_type("x.json"),
    mimetypes.guess_extension("text/html"),
)
r = Request("http://h.test/p", data=b"x", headers={"X-A": "1"})
print(
    r.get_method(),
    r.host,
    r.header_items(),
    ipaddress.ip_network("10.0.0.0/30").num_addresses,
    ipaddress.ip_address("::1").is_loopback,
    list(ipaddress.ip_network("10.0.0.0/30").hosts()),
)
robots = RobotFileParser()
robots.parse(["User-agent: *", "Disallow: /private"])
print(robots.can_fetch("x", "http://h/private/a"), robots.can_fetch("x", "http://h/a"))
for bad in (
    lambda: up.urlsplit("http://[::1"),
    lambda: up.urlsplit("http://h:99999/").port,
    lambda: ipaddress.ip_address("1.2.3"),
    lambda: HTTPStatus(99),
    lambda: ipaddress.ip_network("10.0.0.1/8"),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
