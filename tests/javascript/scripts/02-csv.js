const fs = require("fs");
const text = fs.readFileSync("people.csv", "utf8");
function parseLine(line) {
  const out = []; let cur = ""; let quoted = false;
  for (const ch of line) {
    if (ch === '"') quoted = !quoted;
    else if (ch === "," && !quoted) { out.push(cur); cur = ""; } else cur += ch;
  }
  return [...out, cur];
}
const [head, ...rows] = text.trim().split("\n").map(parseLine);
const people = rows.map((row) => Object.fromEntries(head.map((key, i) => [key, row[i]])));
console.log(people);
console.table(people);
console.log("average age:", (people.reduce((s, p) => s + Number(p.age), 0) / people.length).toFixed(2));
fs.writeFileSync("people.json", JSON.stringify(people, null, 2) + "\n");
