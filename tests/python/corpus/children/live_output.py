"""Live output."""

import subprocess, sys

p = subprocess.Popen(
    ["sh", "-c", "for i in 1 2 3; do echo line $i; sleep 0.02; done; echo err >&2; exit 4"],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    bufsize=1,
)
for line in iter(p.stdout.readline, ""):
    print(">", line.rstrip())
print(p.stderr.read().strip(), p.wait())
try:
    subprocess.run(["sh", "-c", "echo bad >&2; exit 2"], check=True, capture_output=True, text=True)
except subprocess.CalledProcessError as e:
    print(e, repr(e.stderr), e.returncode, e.cmd)
print(
    subprocess.check_output(
        "echo $HOME_X; pwd | wc -l", shell=True, env={"HOME_X": "v", "PATH": "/usr/bin:/bin"}
    ).decode()
)
r = subprocess.run(
    [sys.executable, "-c", "import sys; print(sys.argv[1:], sys.stdin.read())", "a", "b c"],
    input="in",
    text=True,
    capture_output=True,
)
print(r.stdout, r.stderr)
