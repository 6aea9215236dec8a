const { execSync, spawnSync, execFileSync } = require("child_process");
console.log(execSync("echo hello | tr a-z A-Z").toString().trim());
console.log(execSync("wc -l < people.csv", { encoding: "utf8" }).trim());
const r = spawnSync("sh", ["-c", "echo out; echo err >&2; exit 3"], { encoding: "utf8" });
console.log(r.status, r.signal, JSON.stringify(r.stdout), JSON.stringify(r.stderr));
console.log(execFileSync("cat", [], { input: "from stdin", encoding: "utf8" }));
try { execSync("exit 7", { stdio: "pipe" }); } catch (e) { console.log(e.status, e.message); }
const missing = spawnSync("no-such-program-here", ["x"]);
console.log(missing.error.code, missing.error.syscall, missing.status);
execSync("echo inherited", { stdio: "inherit" });
