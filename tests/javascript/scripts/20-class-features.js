class A { #p = 1; static s = 2; static #q = 3; static { A.t = A.#q; } get p() { return this.#p; } #m() { return 5; } m() { return this.#m?.(); } has(o) { return #p in o; } }
const a = new A(); console.log(a.p, A.s, A.t, a.m(), a.has(a), a.has({}));
const { x = 1, ...rest } = { y: 2, z: 3 }; console.log(x, rest, a?.b?.c, null ?? "d"); let l = null; l ??= 4; l ||= 5; l &&= 6; console.log(l);
label: for (let i = 0; i < 3; i++) for (;;) { if (i === 1) break label; continue label; }
console.log([3, 1, 2].toSorted(), [1, 2, 3].at(-1), [1, 2].includes(2), "a-b-c".replaceAll("-", "+"), [1, [2, [3]]].flat(Infinity), structuredClone({ d: new Date(0), m: new Map([[1, 2]]) }));
console.log([..."👍é"].length, "abc".padStart(5, "*"), "x".codePointAt(0), String.raw`\n${1}`, 0b11, 0o17, 1_000, 2 ** 10, 10n ** 20n);
function tag(s, ...v) { return s.raw.join("|") + v.join(","); } console.log(tag`a${1}b${2}c`);
const gen = (function* () { const r = yield 1; console.log("got", r); return 2; })(); console.log(gen.next(), gen.next("v"), gen.next());
const p = new Proxy({}, { get: (t, k) => `prop:${String(k)}` }); console.log(p.anything, Reflect.ownKeys({ a: 1, [Symbol.iterator]: 2 }));
var hoisted = typeof later; var later = 1; console.log(hoisted, this === module.exports, (function () { return this === globalThis; })());
console.log(new Intl.NumberFormat("en-US").format(1234567.891), (1234.5).toLocaleString(), new Date(0).toISOString());
