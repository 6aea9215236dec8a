// stdin: 5\n7\nx\n30
import readline from "node:readline";
const rl = readline.createInterface({ input: process.stdin });
let sum = 0; const bad = [];
for await (const line of rl) { const n = Number(line); if (Number.isNaN(n)) bad.push(line); else sum += n; }
console.log({ sum, bad });
