"""A worker process that answers one line with one line of JSON, and is replaced when it hangs or
dies.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["Worker", "WorkerError"]

ROOT = Path(__file__).parents[2]


class WorkerError(Exception):
    """The worker gave no answer: it hung, or its process ended."""


class Worker:
    """A Python module run as a process; `patience` is what an answer may take, in seconds."""

    def __init__(self, module: str, *arguments: str, patience: float) -> None:
        self.command = [sys.executable, "-m", module, *arguments]
        self.patience = patience
        self.process: subprocess.Popen[str] | None = None

    def ask(self, question: str) -> Any:
        """The answer to a line. Raises `WorkerError`."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{question}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.patience)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        if ready:
            process.wait()
        self.close()
        raise WorkerError(
            f"the process ended with {process.returncode}"
            if ready
            else f"hung for {self.patience:g} s"
        )

    def close(self) -> None:
        """End the process; the next question starts another."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
