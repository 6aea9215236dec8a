const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function main() {
  console.log("a"); setTimeout(() => console.log("timeout"), 0); setImmediate(() => {});
  process.nextTick(() => console.log("tick")); Promise.resolve().then(() => console.log("micro"));
  queueMicrotask(() => console.log("micro2"));
  console.log("b"); await sleep(5); console.log("after sleep");
  const all = await Promise.allSettled([sleep(3).then(() => 1), Promise.reject(new Error("no")), 3]);
  console.log(all.map((x) => x.status));
  for await (const x of (async function* () { yield 1; yield 2; })()) console.log("item", x);
  try { await Promise.any([Promise.reject(1)]); } catch (e) { console.log(e.constructor.name, e.errors); }
}
main().then(() => console.log("done"));
process.on("exit", (c) => console.log("exit", c));
