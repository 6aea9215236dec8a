// args: bump minor
const fs = require("fs"); const [cmd, kind] = process.argv.slice(2); const pkg = JSON.parse(fs.readFileSync("data.json", "utf8"));
const bump = ([a, b, c], k) => ({ major: [a + 1, 0, 0], minor: [a, b + 1, 0], patch: [a, b, c + 1] })[k];
if (cmd !== "bump" || !["major", "minor", "patch"].includes(kind)) { console.error("Usage: bump <major|minor|patch>"); process.exit(2); }
pkg.version = bump(pkg.version.split(".").map(Number), kind).join("."); fs.writeFileSync("data.json", JSON.stringify(pkg, null, 2)); console.log(`Bumped to ${pkg.version}`, Object.entries(pkg.dependencies).map(([n, v]) => `${n}@${v.replace(/^[~^]/, "")}`).join(", "));
