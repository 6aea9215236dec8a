import { fileURLToPath, pathToFileURL } from "url"; import { writeFileSync, mkdirSync } from "fs";
for (const name of ["/tmp/a b#c?d%e.js", "/x/[y]/{z}/ü~.mjs", "/q/'\"<>`|^.js", "/dir/"]) { const u = pathToFileURL(name); console.log(u.href, fileURLToPath(u) === name); }
mkdirSync("sp ace"); writeFileSync("sp ace/é [1].mjs", "export default import.meta.url.split('/').slice(-2).join('/');"); console.log((await import(pathToFileURL("sp ace/é [1].mjs").href)).default, (await import(`${process.cwd()}/sp ace/é [1].mjs`)).default);
