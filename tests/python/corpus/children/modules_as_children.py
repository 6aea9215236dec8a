"""Modules as children."""

import subprocess, sys, os

open("mod.py", "w").write('import sys\nprint("mod",sys.argv[1:], __name__)\nsys.exit(5)\n')
r = subprocess.run([sys.executable, "mod.py", "x"], capture_output=True, text=True)
print(r.stdout, r.returncode)
r = subprocess.run([sys.executable, "-m", "mod", "y"], capture_output=True, text=True)
print(r.stdout, r.returncode)
r = subprocess.run(
    [sys.executable, "-m", "json.tool"], input='{"a":[1]}', capture_output=True, text=True
)
print(r.stdout)
r = subprocess.run("exit 7", shell=True)
print(r.returncode)
print(subprocess.call(["false"]), subprocess.getoutput("echo hi"))
os.remove("mod.py")
print(os.system("echo sys; exit 2") >> 8)
