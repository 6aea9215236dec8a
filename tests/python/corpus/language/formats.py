name, n, x = "Ü", 1234567, 3.14159
print(
    f"{name:*^9}|{n:,}|{n:_x}|{n:#b}|{x:8.2f}|{x:e}|{x:%}|{n:>+12}|{-5:05d}|{x!r:>10}|{name!a}|{n=}|{x = :.1f}"
)
print("%s %5.1f %-5d| %05d %x %o %e %% %r %c" % ("s", 2.25, 3, -42, 255, 8, 12345.678, "q", 65))
print("{} {k[a]} {o.real} {:>{w}}".format("a", "b", k={"a": 1}, o=5, w=4))
print(
    f"{'nested ' + f'{n:{10}}'!s:>20}",
    f"{{}}",
    f"{'a' if n else 'b'}",
    "ab",
    r"\n",
    b"\x00a",
    "\N{GREEK SMALL LETTER ALPHA}",
)
print(
    "tab\there".expandtabs(4),
    "a,b,,c".split(","),
    " x ".strip(),
    "abc".partition("b"),
    "aXbX".rsplit("X", 1),
    "ß".upper(),
    "ǅ".lower(),
)
print(
    "abc".translate(str.maketrans("ab", "12", "c")),
    "Hello World".swapcase(),
    "x".join("abc"),
    "hello"[::-1],
    "z" * 3,
    "abc".center(9, "."),
)
print(
    round(2.5),
    round(-1.5),
    round(2.675, 2),
    7 // -2,
    7 % -2,
    divmod(-7, 3),
    2**100,
    1e16,
    0.1 + 0.2,
    1 / 3,
    1e-7,
    123456789012345680.0,
    float("1e400"),
    -0.0,
)
print(
    int("0x1f", 16),
    int("-0b11", 0),
    int(" 12 "),
    float("1_000.5"),
    complex("1+2j") * 1j,
    10**20 // 3,
    hex(255),
    bin(-5),
    (255).bit_length(),
    (5).bit_count(),
)
print(
    sorted([3, 1, 2], reverse=True),
    [1, 2] < [1, 3],
    (1,) + (2,),
    [0] * 3,
    list(range(10, 0, -3)),
    slice(1, 5, 2).indices(4),
    [1, 2, 3][-5:2],
)
print(
    ascii("é\n"),
    repr("it's"),
    repr("a\"b'c"),
    repr(b"\xff'"),
    str(None),
    repr(1.0),
    repr([...]),
    {1: {2}},
    (1,),
    frozenset([1]),
    range(3),
    bytearray(b"x"),
)
print(
    "é".encode(),
    "é".encode("utf-16"),
    "é".encode("ascii", "xmlcharrefreplace"),
    b"\xc3".decode("utf-8", "replace"),
    b"\xff".decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape"),
)
"é".encode("ascii")
