import twice, { base } from "../work/lib/twice.mjs";
import math from "../work/lib/math.cjs";
import { add } from "../work/lib/math.cjs";
import * as all from "../work/lib/twice.mjs";
import fs, { existsSync } from "fs";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
console.log(twice(21), base, math.add(1, 2), add(3, 4), math.name, Object.keys(all), all);
console.log(fs.existsSync === existsSync, require("../work/data.json").version);
const lazy = await import("node:os"); console.log(lazy.EOL === "\n", typeof lazy.default.platform);
try { await import("./nope.mjs"); } catch (e) { console.log(e.code); }
