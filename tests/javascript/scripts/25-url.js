const u = new URL("https://user:pw@example.com:8080/a/b/../c?x=1&y=two%20words#frag");
console.log(u.href, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin, u.username, u.searchParams.get("y"), [...u.searchParams.keys()]);
u.searchParams.append("z", "a&b"); u.pathname = "/new path"; u.hash = ""; console.log(String(u), JSON.stringify({ u }), new URL("../x?q", "http://h.test/a/b/c").href, new URL("//other/y", "https://h.test").href, new URL("HTTP://EXAMPLE.com:80").href);
for (const bad of ["nope", "http://", "/rel"]) try { new URL(bad); console.log("ok"); } catch (e) { console.log(e.code, e.name, e.input); }
const p = new URLSearchParams({ a: "1", b: "x y" }); p.set("a", "2"); p.delete("zz"); console.log(p.toString(), Object.fromEntries(p), p.has("b"), require("url").fileURLToPath("file:///tmp/a%20b"), require("url").pathToFileURL("/tmp/a b").href, u);
console.log(new URL("mailto:a@b.c").pathname, new URL("file:///x/../y").href, URL.canParse("x:"), require("querystring").parse("a=1&b=2&a=3"));
