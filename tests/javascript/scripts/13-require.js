const { createRequire } = require("module");
const req = createRequire(process.cwd() + "/x.js");
console.log(req("tiny")("shout"), req("tiny").kind, req("./lib/math.cjs").add(2, 3), req("./data").name);
try { require("./missing"); } catch (e) { console.log(e.code, e.message.split("\n")[0].replace(/'.*'/, "")); }
try { req("not-installed"); } catch (e) { console.log(e.code, e.message.split("\n")[0]); }
console.log(req("./lib/math.cjs") === req("./lib/math.cjs"), typeof req.resolve("tiny"));
import("fs").then((fs) => console.log(typeof fs.default.readFileSync));
