// stdin: line one\nline two\n\nlast
const lines = require("fs").readFileSync(0, "utf8").split("\n");
console.log(lines.length, lines);
