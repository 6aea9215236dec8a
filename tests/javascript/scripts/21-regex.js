const log = require("fs").readFileSync("app.log", "utf8");
const re = /^(?<date>\d{4}-\d\d-\d\d) (?<time>[\d:]+) (?<level>\w+) (?<src>\w+): (?<msg>.*)$/gm;
const stats = {};
for (const { groups: { level, src, date } } of log.matchAll(re)) { stats[level] ??= {}; stats[level][src] = (stats[level][src] ?? 0) + 1; stats.last = date; }
console.log(stats, "price: $42".match(/(?<=\$)\d+/), "x1y22".replace(/\d+/g, (m) => `<${m}>`), /\p{Lu}\p{Ll}+/u.exec("été Élan"), "a1b2".split(/(\d)/), /(a)|(b)/d.exec("b").indices[2]);
console.log("2024-01-05".replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, "$<d>/$<m>/$<y>"), /^.$/su.test("\n"), "aBc".replace(/b/i, "[$&$`$']"), [..."a,b;c".matchAll(/[,;]/g)].map((m) => m.index));
