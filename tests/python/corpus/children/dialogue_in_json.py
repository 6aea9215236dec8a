"""Dialogue in json."""

import subprocess, sys, json

child = """
import sys, json
for line in sys.stdin:
    req=json.loads(line)
    if req['m']=='stop': break
    print(json.dumps({'id':req['id'],'r':req['m'].upper()}), flush=True)
print('bye', file=sys.stderr)
"""
p = subprocess.Popen(
    [sys.executable, "-c", child],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
)
for i, m in enumerate(["ping", "list"]):
    p.stdin.write(json.dumps({"id": i, "m": m}) + "\n")
    p.stdin.flush()
    print(json.loads(p.stdout.readline()))
p.stdin.write(json.dumps({"id": 9, "m": "stop"}) + "\n")
p.stdin.close()
print(p.wait(timeout=5), p.stderr.read())
