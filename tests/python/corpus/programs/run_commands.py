"""Run shell commands in all the ways that scripts do."""

import os
import shutil
import subprocess
import sys

r = subprocess.run(["echo", "a b", "*"], capture_output=True, text=True)
print(r, r.stdout.strip())
print(
    subprocess.check_output("printf 'x\\ny\\n' | sort -r | head -n 1", shell=True),
    subprocess.getoutput("echo $((6*7))"),
    subprocess.getstatusoutput("exit 3"),
)
print(subprocess.run(["cat"], input="given\n", text=True, stdout=subprocess.PIPE).stdout, end="")
print(
    subprocess.run(
        "echo out; echo err >&2", shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout
)
print(
    subprocess.run(
        ["sh", "-c", "echo $X $HOME; pwd"],
        env={"X": "1", "PATH": os.environ["PATH"]},
        cwd="/tmp",
        capture_output=True,
    ).stdout
)
print(
    subprocess.call(["false"]), subprocess.run(["ls", "nope"], stderr=subprocess.DEVNULL).returncode
)
with open("out.txt", "w") as f:
    subprocess.check_call(["echo", "to a file"], stdout=f)
with open("out.txt") as f:
    print(
        subprocess.run(["tr", "a-z", "A-Z"], stdin=f, capture_output=True, encoding="utf-8").stdout,
        end="",
    )
p = subprocess.Popen(["sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
out, err = p.communicate("b\na\n")
print(out.split(), err, p.returncode, p.poll())
first = subprocess.Popen(["printf", "1\\n2\\n3\\n"], stdout=subprocess.PIPE)
second = subprocess.Popen(["tail", "-n", "1"], stdin=first.stdout, stdout=subprocess.PIPE)
first.stdout.close()
print(second.communicate()[0], second.wait())
with subprocess.Popen(
    "for i in 1 2; do echo line $i; done", shell=True, stdout=subprocess.PIPE, text=True
) as p:
    for line in p.stdout:
        print("got", line.strip())
sys.stdout.flush()
print(
    os.system("echo from system; exit 2") >> 8,
    os.popen("echo popened").read(),
    os.popen("exit 1").close(),
)
print(
    shutil.which("sh") is not None,
    shutil.which("no-such-program"),
    os.path.basename(sys.executable).startswith("python"),
)
print(
    subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(4)", "x"],
        capture_output=True,
        text=True,
    )
)
try:
    subprocess.run(["sh", "-c", "echo oops >&2; exit 5"], check=True, capture_output=True)
except subprocess.CalledProcessError as e:
    print(e, e.stderr, e.cmd)
try:
    subprocess.run(["sleep", "5"], timeout=0.2)
except subprocess.TimeoutExpired as e:
    print("slow:", e.cmd, round(e.timeout, 1))
try:
    subprocess.run(["no-such-program", "x"])
except FileNotFoundError as e:
    print(e)
try:
    subprocess.run(["./out.txt"])
except PermissionError as e:
    print(e)
sys.stdout.flush()
subprocess.run(["sh", "-c", "echo inherited; echo inherited error >&2"])
subprocess.check_call("exit 7", shell=True)
