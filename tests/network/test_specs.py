"""The cases of the real curl and wget: the site is a function of the host, what is not HTTP comes
from a port of the sandbox.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command
from tests.network.server import PORT, RAW_PORT, answer, raw_answer
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.test_specs import place_files

HERE = Path(__file__).parent
HOSTS = {f"localhost:{PORT}": answer}


@command("raw-server", "Usage: raw-server\nAnswer as the real server does.", raw=True)
def raw_server(ctx: CommandContext, args: Arguments) -> int:
    listener = ctx.host.network.loopback.listen(RAW_PORT)
    try:
        while True:
            endpoint = listener.accept()
            head = b""
            while b"\r\n\r\n" not in head:
                head += endpoint.read(65536)
            endpoint.write(raw_answer(head))
            endpoint.close()
    finally:
        listener.close()


def all_cases() -> list[object]:
    return [
        pytest.param(case, id=f"{path.stem}: {case.name}")
        for path in sorted(HERE.glob("*.toml"))
        for case in load(path)
    ]


@pytest.mark.parametrize("case", all_cases())
def test_case(case: Case) -> None:
    assert case.status is not None, "no expectation: run tests/record/network.py on the file"
    environment = {**ENVIRONMENT, **case.env}
    with Sandbox(cwd=DIRECTORY, env=environment, network=HOSTS, commands=[raw_server]) as sandbox:
        place_files(sandbox, case)
        sandbox.execute("raw-server &")
        result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    assert (result.stdout_bytes, result.stderr_bytes, result.exit_code) == (
        case.stdout,
        case.stderr,
        case.status,
    )
