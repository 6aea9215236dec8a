const fs = require("fs");
const text = fs.readFileSync("docs/guide.md", "utf8");
const toc = [];
let inCode = false;
text.split(/\r?\n/).forEach((line, i) => {
  if (/^```/.test(line)) inCode = !inCode;
  const m = /^(#{1,6})\s+(.+?)\s*#*$/.exec(line);
  if (m && !inCode) toc.push({ level: m[1].length, title: m[2], slug: m[2].toLowerCase().replace(/[^\w]+/g, "-"), line: i + 1 });
});
console.log(toc);
console.log(JSON.stringify(toc[0]), text.match(/(?<=\]\()[^)]+/g));
const html = text.replace(/\*(.+?)\*/g, "<em>$1</em>").replace(/^# (.*)$/m, "<h1>$1</h1>");
process.stdout.write(html.slice(0, 60) + "\n");
