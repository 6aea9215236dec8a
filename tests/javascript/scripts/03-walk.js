const fs = require("node:fs"); const path = require("node:path");
function* walk(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* walk(full); else yield full;
  }
}
for (const file of [...walk(".")].filter((f) => !f.includes("node_modules")).sort()) {
  const { size } = fs.statSync(file);
  console.log(`${file.padEnd(20)} ${String(size).padStart(6)} ${path.extname(file) || "-"}`);
}
