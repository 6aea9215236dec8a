const { Readable, Transform, Writable, pipeline } = require("stream"); const { pipeline: pp } = require("stream/promises");
const upper = () => new Transform({ transform(chunk, enc, cb) { cb(null, chunk.toString().toUpperCase()); } }); const parts = [];
pipeline(Readable.from(["a", "b", "c"]), upper(), new Writable({ write(c, e, cb) { parts.push(c.toString()); cb(); } }), async (err) => { console.log(err, parts); await pp(Readable.from(["x\n"]), upper(), process.stdout, { end: false }).catch((e) => console.log(e.message)); });
