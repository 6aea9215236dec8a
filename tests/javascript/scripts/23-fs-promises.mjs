import fs from "node:fs/promises"; import { readFile, writeFile, mkdir, readdir, stat, rm } from "fs/promises"; import { promisify } from "util"; import { readFile as cb, createReadStream, createWriteStream } from "fs";
await mkdir("tmp/a", { recursive: true }); await writeFile("tmp/a/f.txt", "one\ntwo\nthree\n");
console.log(await readdir("tmp/a"), (await stat("tmp/a/f.txt")).size, (await readFile("tmp/a/f.txt")).length, await promisify(cb)("tmp/a/f.txt", "utf8"));
try { await fs.access("none"); } catch (e) { console.log(e.code, e.message); }
const r = createReadStream("tmp/a/f.txt", { encoding: "utf8" }); let s = ""; for await (const c of r) s += c; console.log(s.split("\n").length);
const w = createWriteStream("tmp/a/w.txt"); w.write("x"); w.end("y\n"); await new Promise((ok) => w.on("finish", ok)); console.log(await readFile("tmp/a/w.txt", "utf8"));
await rm("tmp", { recursive: true }); const h = await fs.open("data.json"); console.log((await h.readFile("utf8")).length); await h.close();
