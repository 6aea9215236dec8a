"""Client class."""

import subprocess, sys, threading, queue


class Client:
    def __init__(self):
        self.p = subprocess.Popen(
            [
                sys.executable,
                "-u",
                "-c",
                'import sys,json\nfor l in sys.stdin:\n r=json.loads(l)\n print(json.dumps({"id":r["id"],"result":r["x"]*2}))',
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.resp = {}
        self.ev = {}
        self.t = threading.Thread(target=self._read, daemon=True)
        self.t.start()

    def _read(self):
        import json

        for raw in iter(self.p.stdout.readline, b""):
            m = json.loads(raw)
            self.resp[m["id"]] = m["result"]
            self.ev[m["id"]].set()

    def call(self, i, x):
        import json

        self.ev[i] = threading.Event()
        self.p.stdin.write((json.dumps({"id": i, "x": x}) + "\n").encode())
        self.p.stdin.flush()
        if not self.ev[i].wait(timeout=5):
            raise TimeoutError
        return self.resp[i]


c = Client()
print(c.call(1, 21), c.call(2, "ab"))
c.p.stdin.close()
print(c.p.wait())
