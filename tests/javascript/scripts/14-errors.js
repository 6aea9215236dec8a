const fs = require("fs");
for (const f of [() => fs.readFileSync("nope.txt"), () => fs.readdirSync("people.csv"), () => fs.mkdirSync("src"),
  () => fs.rmdirSync("src"), () => fs.readFileSync("src"), () => fs.unlinkSync("nope"), () => fs.renameSync("nope", "x"),
  () => fs.statSync("people.csv/x"), () => fs.copyFileSync("nope", "y"), () => fs.accessSync("nope"), () => fs.rmSync("nope"),
  () => fs.writeFileSync("no/dir/file", "x"), () => fs.openSync("nope", "r"), () => fs.closeSync(99), () => fs.readlinkSync("people.csv"),
  () => fs.readFileSync(null), () => fs.writeFileSync("x", {}), () => require("path").join(1), () => JSON.parse("{bad")]) {
  try { f(); console.log("no error"); } catch (e) { console.log(e.code, "|", e.syscall, "|", e.path, "|", e.constructor.name, "|", e.code === undefined ? "" : e.message); }
}
