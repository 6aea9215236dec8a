import { createRequire } from "module"; import { writeFileSync, mkdirSync } from "fs"; import { pathToFileURL } from "url";
writeFileSync("entry.mjs", 'import Thing, { esm } from "esmpkg"; import { deep } from "esmpkg/sub/x"; import shout from "tiny"; console.log(esm, deep, shout("loud"), String(new Thing())); export const meta = import.meta.url.split("/").pop();');
const { meta } = await import(pathToFileURL("entry.mjs").href); console.log(meta, typeof require, typeof __filename, this, import.meta.filename?.endsWith("38-esm-package.mjs"));
try { await import("nope-pkg"); } catch (e) { console.log(e.code); } try { await import("esmpkg/private"); } catch (e) { console.log(e.code); }
