const crypto = require("crypto");
for (const a of ["md5", "sha1", "sha256", "sha512"]) console.log(a, crypto.createHash(a).update("hello").update(" world").digest("hex"));
console.log(crypto.createHmac("sha256", "key").update("data").digest("base64"), crypto.randomBytes(8).length, /^[0-9a-f-]{36}$/.test(crypto.randomUUID()), crypto.createHash("md5").update(require("fs").readFileSync("people.csv")).digest("hex"));
const zlib = require("zlib"); console.log(zlib.gunzipSync(zlib.gzipSync("compress me")).toString(), zlib.inflateSync(zlib.deflateSync(Buffer.alloc(1000))).length);
