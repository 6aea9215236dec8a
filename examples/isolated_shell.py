"""An isolated shell: pipelines, files and limits, nothing of the host."""

from agentsandbox import Limits, Sandbox

SALES = "city,amount\nOslo,120\nRome,80\nOslo,50\n"
TOTALS = "{ sum[$1] += $2 } END { for (c in sum) print c, sum[c] }"

with Sandbox(files={"/workspace/sales.csv": SALES}) as sandbox:
    result = sandbox.execute(f"tail -n +2 sales.csv | awk -F, '{TOTALS}' | sort")
    print(result.stdout, end="")

    sandbox.execute("mkdir -p reports && echo done > reports/status && cd reports")
    print(sandbox.execute("pwd; cat status").stdout, end="")

    checkpoint = sandbox.snapshot()
    sandbox.execute("rm -rf /workspace/*")
    sandbox.restore(checkpoint)
    print(sandbox.fs.read_text("/workspace/reports/status"), end="")

    failed = sandbox.execute("cat /etc/shadow; no-such-command")
    print(failed.exit_code, failed.stderr, end="")

with Sandbox(limits=Limits(timeout=0.2)) as sandbox:
    stopped = sandbox.execute("echo before; while :; do :; done")
    print(stopped.stdout.strip(), stopped.exit_code, stopped.limit)
