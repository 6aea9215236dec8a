class Point { constructor(x, y) { this.x = x; this.y = y; } get len() { return 1; } static of() {} }
class Point3 extends Point { #z = 1; }
console.log(new Point(1, 2), new Point3(1, 2), [new Point(0, 0)], Point, Point3);
console.log({ a: { b: { c: { d: 1 } } }, f() {}, g: () => 1, h: function () {}, async i() {}, *j() {} });
console.log([1, "two", null, undefined, true, 3n, Symbol("s"), -0, NaN, 1e21]);
console.log(new Map([["k", { v: 1 }], [{ o: 1 }, [1, 2]]]), new Set([1, "a"]), new WeakMap());
console.log([[1, [2, [3, [4]]]]], { "a-b": 1, 2: 3, [Symbol("k")]: 4 });
console.log(new Date(0), /re+/gi, [new Date(NaN)], [/x/]);
console.log(Array.from({ length: 120 }, (_, i) => i));
console.log(["apple", "banana", "cherry", "dragonfruit", "elderberry", "fig", "grape", "honeydew"]);
console.log("str", 'it\'s', ["it's", 'say "hi"', `both ' and "`, "new\nline", "tab\t", "\u0007"]);
console.log(Object.create(null), Object.create({ inherited: 1 }), [], {}, [undefined, , 3], [, ,]);
const loop = { name: "loop" }; loop.self = loop; loop.list = [loop]; console.log(loop);
console.log(Buffer.from("hello"), new Uint8Array([1, 2, 3]), new ArrayBuffer(4), new Float64Array(2));
console.log(Promise.resolve(1) instanceof Promise, [function foo() {}, class {}, class A {}], Math, JSON);
console.log({ get a() { return 1; }, set a(v) {}, get b() { return 2; }, set c(v) {} });
console.log("%s is %d years and %i, %f, %j %o %O %%", "Bob", 42.5, 42.9, "1.5", { a: 1 }, [1], { b: { c: {} } }, "extra", 7);
console.log({ long: "x".repeat(100), nested: { array: ["a".repeat(30), "b".repeat(30), "c".repeat(30)] } });
console.log([{ id: 1, name: "first", tags: ["a", "b"] }, { id: 2, name: "second", tags: [] }, { id: 3, name: "third", tags: ["c"] }]);
console.log(process.versions.node.split(".")[0], typeof globalThis, [1.5, 2.25, 100, 3, 4, 5, 6, 7]);
console.log([true, false], [null], [[]], [{}], { a: [] , b: {} }, new Error("boom").message, [1, 2, 3].entries());
console.log(Object.assign(() => {}, { prop: 1 }), Object.assign([1, 2], { extra: true }), new (class Foo extends Map {})([[1, 2]]), new (class Bar extends Array {})(3));
