const fs = require("fs"); const path = require("path");
fs.mkdirSync("out/deep/er", { recursive: true }); fs.writeFileSync("out/a.txt", "alpha"); fs.appendFileSync("out/a.txt", "\nbeta\n");
fs.copyFileSync("out/a.txt", "out/b.txt"); fs.renameSync("out/b.txt", "out/deep/c.txt"); fs.symlinkSync("a.txt", "out/link"); fs.chmodSync("out/a.txt", 0o755);
console.log(fs.readdirSync("out").sort(), fs.readlinkSync("out/link"), fs.lstatSync("out/link").isSymbolicLink(), (fs.statSync("out/a.txt").mode & 0o777).toString(8), fs.existsSync("nope"), fs.realpathSync("out/link").endsWith("out/a.txt"));
const fd = fs.openSync("out/bin", "w+"); fs.writeSync(fd, "0123456789"); const buf = Buffer.alloc(4); console.log(fs.readSync(fd, buf, 0, 4, 3), buf.toString(), fs.fstatSync(fd).size); fs.closeSync(fd);
fs.truncateSync("out/bin", 5); console.log(fs.readFileSync("out/bin", "latin1"), fs.statSync("out").isDirectory(), fs.mkdirSync("out/x/y", { recursive: true }).endsWith("out/x"), fs.mkdirSync("out/x/y", { recursive: true }));
fs.cpSync("out", "copy", { recursive: true }); console.log(fs.readdirSync("copy", { recursive: true }).sort()); fs.rmSync("out", { recursive: true, force: true }); fs.rmSync("zzz", { force: true }); console.log(fs.existsSync("out"), fs.statSync("zzz", { throwIfNoEntry: false }));
fs.utimesSync("data.json", new Date(1e12), new Date(1e12)); console.log(fs.statSync("data.json").mtime.toISOString()); fs.unlinkSync("copy/link"); fs.rmSync("copy", { recursive: true });
console.log(typeof fs.mkdtempSync(path.join(require("os").tmpdir(), "t-")), fs.constants.R_OK);
