import os
import sys

print(
    os.environ.get("GIVEN"),
    os.getenv("NOT_GIVEN", "default"),
    os.environ["HOME"],
    os.path.expandvars("$GIVEN/${HOME}/$NOPE"),
)
os.environ["MADE"] = "made here"
os.environ.pop("GIVEN", None)
sys.stdout.flush()
os.system('echo "$MADE|$GIVEN"')
print(
    os.getcwd(),
    os.environ.get("PWD"),
    os.cpu_count() is not None,
    os.getpid() > 0,
    os.environ.get("TZ"),
)
try:
    os.environ["GIVEN"]
except KeyError as e:
    print("KeyError", e)
os.environ["N"] = 5
