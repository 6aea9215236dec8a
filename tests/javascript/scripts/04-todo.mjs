import { readFileSync, readdirSync } from "node:fs";
import path from "path";
import { fileURLToPath } from "url";
const here = path.dirname(fileURLToPath(import.meta.url));
console.log(path.basename(here), import.meta.url.startsWith("file:///"));
const pattern = /\/\/\s*(?<tag>TODO|FIXME):?\s*(?<text>.*)$/gm;
for (const name of readdirSync("src")) {
  const text = readFileSync(path.join("src", name), "utf-8");
  for (const match of text.matchAll(pattern)) {
    const line = text.slice(0, match.index).split("\n").length;
    console.log(`${name}:${line}: [${match.groups.tag}] ${match.groups.text}`);
  }
}
