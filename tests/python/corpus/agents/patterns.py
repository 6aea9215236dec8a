import re

t = "2024-01-02 ERROR [db] x=1\n2024-01-03 WARN [net] y=22\n"
print(
    re.findall(r"(?m)^(\S+) (\w+) \[(\w+)\]", t),
    re.sub(r"(?P<k>\w)=(\d+)", lambda m: f"{m['k']}:{int(m[2]) * 2}", t),
    re.split(r"[,;]\s*", "a, b;c"),
    re.compile("(?x) a  # c\n b").pattern,
)
for m in re.finditer(r"\d+", t):
    print(m.span(), end=" ")
print(re.fullmatch("a++b", "aab"), re.escape("a.b*"))
