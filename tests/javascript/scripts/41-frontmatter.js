#!/usr/bin/env node
"use strict";
const text = "---\nname: demo\ntags: [a, b]\nversion: 1.0\n---\n# Body\n"; const m = text.match(/^---\n([\s\S]*?)\n---\n?([\s\S]*)$/); const meta = {}; for (const line of m[1].split("\n")) { const [, k, v] = line.match(/^(\w+):\s*(.*)$/); meta[k] = v.startsWith("[") ? v.slice(1, -1).split(/,\s*/) : Number.isNaN(Number(v)) ? v : Number(v); } console.log(meta, m[2].trim()); with_strict(); function with_strict() { try { undeclared = 1; } catch (e) { console.log(e.name, e.message); } }
