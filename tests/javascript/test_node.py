"""The command line of node, limits, and what a program must not reach."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from agentsandbox import Limits, Sandbox

pytest.importorskip("wasmtime")

from agentsandbox.javascript import JavaScriptRuntime

RUNTIME = JavaScriptRuntime()


def sandbox(**options: object) -> Sandbox:
    return Sandbox(commands=[RUNTIME.node], **options)  # type: ignore[arg-type]


@pytest.fixture(autouse=True, scope="module")
def prepared() -> None:
    assert sandbox().execute("node -e 0").exit_code == 0


@pytest.mark.parametrize(
    ("script", "stdout"),
    [
        ("node -v", "v20.20.2\n"),
        ("node --version", "v20.20.2\n"),
        ("node -p '1 + 1'", "2\n"),
        ("node -p '({a: [1]})' x", "{ a: [ 1 ] }\n"),
        ("node -e 'console.log(process.argv.slice(1))' a --b", "[ 'a', '--b' ]\n"),
        ("echo 'console.log(7)' | node", "7\n"),
        ("echo 'console.log(process.argv[2])' | node - x", "x\n"),
        ("node --input-type=module -e 'import fs from \"fs\"; console.log(typeof fs)'", "object\n"),
        ("node -e 'console.log(1); console.error(2)' 2>/dev/null", "1\n"),
        ("printf 'b\\na\\n' | node -e 'process.stdin.pipe(process.stdout)' | sort", "a\nb\n"),
        ("echo 'exports.x = 5' > m.js; node -r ./m.js -p 'require(\"./m\").x'", "5\n"),
        ("node -e 'process.exit(3)'; echo $?", "3\n"),
        ("node -p 'path.basename(fs.realpathSync(\"/tmp\")) + os.EOL.length'", "tmp1\n"),
        ("node -p 'crypto.randomBytes(4).length'", "4\n"),
        ("node -e 'const fs = 1; console.log(fs, __filename)'", "1 [eval]\n"),
        (
            "echo 'console.log(__filename, process.argv)' | node - a",
            "[stdin] [ '/usr/bin/node', '-', 'a' ]\n",
        ),
        ("mkdir p; echo 'export const x = 1' > p/m.mjs; node -p 'require(\"./p/m.mjs\").x'", "1\n"),
        (
            "printf '#!/usr/bin/env node\\nconsole.log(process.argv[2])' >t; chmod +x t; ./t hi",
            "hi\n",
        ),
        ("which node; type node", "/usr/bin/node\nnode is /usr/bin/node\n"),
        ("node -e 'console.log(1)' & wait; echo 2", "1\n2\n"),
        ("x=$(node -p 2+3); echo $x; timeout 0.2 node -e 'for(;;);'; echo $?", "5\n124\n"),
        ("ls /nope 2>/dev/null || node -e 'process.stderr.write(\"e\")' 2>&1", "e"),
        (
            "yes | node -e 'process.stdin.on(\"data\", (d) => { console.log(1); process.exit() })'",
            "1\n",
        ),
        ("echo 'console.log(1)' > a.js; node --check a.js; echo $?", "0\n"),
        ("for i in 1 2 3; do echo $i; done | xargs -I{} node -p '{} * 2'", "2\n4\n6\n"),
        ("node -e 'for (let i = 0; ; i++) console.log(i)' | head -2", "0\n1\n"),
    ],
)
def test_command_line(script: str, stdout: str) -> None:
    result = sandbox(script_errexit="never").execute(script)
    assert (result.stdout, result.stderr) == (stdout, "")


@pytest.mark.parametrize("option", ["--inspect", "--watch", "-i", "--experimental-vm-modules"])
def test_other_options_are_refused_by_name(option: str) -> None:
    result = sandbox().execute(f"node {option} x.js")
    assert result.exit_code == 9
    assert option in result.stderr


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("require('http').get('x')", "no network"),
        ("new (require('net').Socket)()", "no network"),
        ("require('worker_threads').Worker('x')", "no threads"),
        ("process.binding('fs')", "No such module"),
    ],
)
def test_what_is_absent_says_so(source: str, words: str) -> None:
    result = sandbox().execute('node -e "$SOURCE"', env={"SOURCE": source})
    assert result.exit_code == 1
    assert words in result.stderr


@pytest.mark.parametrize(
    "source",
    [
        "for (;;) ;",
        "(function f() { setTimeout(f, 0); })()",
        "setTimeout(() => {}, 1e6)",
        "Promise.resolve().then(function f() { return Promise.resolve().then(f); })",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "'x'.repeat(2 ** 28).split('').sort().reverse().join()",
        "require('child_process').execSync('sleep 100')",
        "for (;;) require('fs').existsSync('/')",
        "require('fs').readFileSync(0); for (;;) ;",
        "function f() { try { f(); } finally { f(); } } f()",
    ],
)
def test_a_program_ends_with_its_time(source: str) -> None:
    box = sandbox(limits=Limits(timeout=0.4))
    began = time.monotonic()
    result = box.execute('node -e "$SOURCE"', env={"SOURCE": source}, stdin="x")
    assert time.monotonic() - began < 0.4 + 0.3
    assert result.exit_code != 0
    assert box.execute("node -p 1", timeout=5).stdout == "1\n"


@pytest.mark.parametrize(
    "source",
    [
        "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
        "new Uint8Array(2 ** 31)",
        "Buffer.alloc(2 ** 30)",
        "(function f() { f(); })()",
        "JSON.parse('['.repeat(1e6))",
        "eval('('.repeat(1e6))",
        "let s = 'x'; for (;;) s += s",
        "for (let i = 0; ; i++) require('fs').openSync('/tmp/f' + i, 'w')",
        "new Array(2 ** 32 - 1).fill(0)",
        "require('child_process').execSync('node -e \"$SOURCE\"', { stdio: 'inherit' })",
        "Error.prepareStackTrace = () => { throw 1; }; null.x",
        "Object.defineProperty(Object.prototype, 'op', { get() { throw 1; } }); null.x",
        "process.emit = null; process.exit(1)",
        "throw { toString() { throw 1; } }",
        "throw new Proxy({}, { get() { throw 1; } })",
        "Array.prototype.map = Array.prototype.filter = null; null.x",
        "JSON.parse = JSON.stringify = null; require('fs').readdirSync('/'); JSON.parse('1')",
    ],
)
def test_attacks_end_with_an_error_and_a_clean_next_call(source: str) -> None:
    box = sandbox(limits=Limits(timeout=10))
    result = box.execute('node -e "$SOURCE"', env={"SOURCE": source})
    assert result.exit_code != 0
    assert "Traceback" not in result.stderr
    assert box.execute("node -p 1").stdout == "1\n"


def test_stack_overflow_is_an_error_of_the_script() -> None:
    source = "try { (function f() { f(); })(); } catch (e) { console.log(e.name); }"
    assert sandbox().execute('node -e "$S"', env={"S": source}).stdout == "RangeError\n"


def test_stack_overflow_with_faulthandler_on() -> None:
    code = (
        "import faulthandler; faulthandler.enable()\n"
        "from agentsandbox import Sandbox\n"
        "from agentsandbox.javascript import JavaScriptRuntime\n"
        "box = Sandbox(commands=[JavaScriptRuntime().node])\n"
        "import os\n"
        "print(box.execute('''node -e \"eval('('.repeat(1e6))\"''').exit_code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("134\n", 0), done.stderr


def test_modules_that_load_each_other_deeply() -> None:
    files = {f"/m/{n}.js": f"module.exports = 1 + require('./{n + 1}')" for n in range(300)}
    for depth, expected in ((30, "31\n"), (299, "300\n")):
        box = sandbox(files={**files, f"/m/{depth}.js": "module.exports = 1"})
        source = "try { console.log(require('/m/0')) } catch (e) { console.log(e.name) }"
        assert box.execute('node -e "$S"', env={"S": source}).stdout == expected


def test_cancel_is_quick() -> None:
    box = sandbox(limits=Limits(timeout=20))
    timer = threading.Timer(0.2, box.cancel)
    timer.start()
    began = time.monotonic()
    result = box.execute("node -e 'for (;;) ;'")
    assert result.limit == "cancelled"
    assert time.monotonic() - began < 0.35


def test_the_event_loop_stays_free() -> None:
    gaps = []

    async def watch() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.001)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    async def main() -> str:
        watching = asyncio.create_task(watch())
        source = "const t = Date.now(); while (Date.now() - t < 300) ; console.log('done')"
        result = await sandbox().aexecute('node -e "$S"', env={"S": source})
        watching.cancel()
        return result.stdout

    assert asyncio.run(main()) == "done\n"
    assert sorted(gaps)[int(len(gaps) * 0.95)] < 0.02


def test_eight_threads() -> None:
    failures = []

    def work(number: int) -> None:
        box = sandbox()
        for _ in range(4):
            result = box.execute(
                f'node -p \'require("fs").readdirSync("/").length * 0 + {number}\''
            )
            if result.stdout != f"{number}\n":
                failures.append(result)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_programs_run_inside_each_other() -> None:
    script = 'node -p \'require("child_process").execSync("node -p 40+2").toString()\''
    assert sandbox().execute(script).stdout == "42\n\n"


def test_a_seed_makes_programs_repeatable() -> None:
    def draw() -> str:
        box = Sandbox(commands=[RUNTIME.node], seed=5, clock=lambda: 1e9)
        return box.execute("node -p 'Math.random() + \" \" + Date.now()'").stdout

    assert draw() == draw()


def test_policy_is_asked_about_children() -> None:
    box = sandbox(on_command=lambda call: call.name != "rm")
    result = box.execute('node -e \'require("child_process").execSync("rm -rf /tmp")\'')
    assert result.exit_code != 0


def test_nothing_of_the_host_is_there() -> None:
    source = (
        "const fs = require('fs'); console.log(Object.keys(process.env).includes('SECRET'),"
        "fs.existsSync('/proc/self/environ'), typeof __host, fs.existsSync(process.env.HERE))"
    )
    result = sandbox().execute('node -e "$S"', env={"S": source, "HERE": __file__})
    assert result.stdout == "false false undefined false\n"


def test_a_damaged_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsandbox.javascript.runtime.ENGINE_DIGEST", "0" * 64)
    box = Sandbox(commands=[JavaScriptRuntime().node])
    result = box.execute("node -e 0")
    assert (result.exit_code, "damaged" in result.stderr) == (126, True)


def test_importing_it_starts_nothing() -> None:
    code = "import agentsandbox.javascript, sys; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
