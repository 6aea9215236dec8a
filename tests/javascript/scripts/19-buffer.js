const b = Buffer.from("héllo wörld ✓", "utf8");
console.log(b.length, b.toString("hex"), b.toString("base64"), b.toString("latin1").length, b.slice(0, 3));
console.log(Buffer.from("aGk=", "base64").toString(), Buffer.from("6869", "hex").toString(), Buffer.concat([Buffer.from("a"), Buffer.alloc(2, "z")]).toString());
console.log(b.equals(Buffer.from(b)), b.indexOf("w"), b.includes("llo"), Buffer.byteLength("✓"), Buffer.isBuffer(b), Buffer.compare(Buffer.from("a"), Buffer.from("b")));
const w = Buffer.alloc(16); w.writeUInt32BE(0xdeadbeef, 0); w.writeInt16LE(-2, 4); w.writeDoubleBE(1.5, 8); console.log(w, w.readUInt32BE(0).toString(16), w.readInt16LE(4), w.readDoubleBE(8));
console.log(JSON.stringify(Buffer.from([1, 2])), Buffer.from([256, -1, 3.7]), [...Buffer.from("ab")], new TextDecoder().decode(new TextEncoder().encode("é")), Buffer.from("ab").toString("base64url"));
try { w.readUInt8(16); } catch (e) { console.log(e.code, e.name); }
console.log(atob(btoa("x")), Buffer.from("\ud800x").toString("hex"), Buffer.from([0xff, 0x41]).toString());
