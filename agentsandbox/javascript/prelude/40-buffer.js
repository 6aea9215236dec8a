// node's Buffer, TextEncoder and TextDecoder.

makers.buffer = () => {
  const CHUNK = 8192;
  const canon = (encoding) => {
    const name = String(encoding ?? "utf8").toLowerCase();
    const known = {
      "utf8": "utf8", "utf-8": "utf8", "hex": "hex", "base64": "base64", "base64url": "base64url",
      "latin1": "latin1", "binary": "latin1", "ascii": "ascii", "ucs2": "utf16le",
      "ucs-2": "utf16le", "utf16le": "utf16le", "utf-16le": "utf16le",
    }[name];
    if (known === undefined) {
      throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    }
    return known;
  };
  const fromCodes = (bytes, mask) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const part = bytes.subarray(at, at + CHUNK);
      text += String.fromCharCode.apply(null, mask === 255 ? part : part.map((b) => b & mask));
    }
    return text;
  };
  const toBase64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 24576) {
      text += btoa(fromCodes(bytes.subarray(at, at + 24576), 255));
    }
    return text;
  };
  const fromBase64 = (text) => {
    const clean = text.replace(/[=].*$/s, "").replaceAll("-", "+").replaceAll("_", "/")
      .replace(/[^A-Za-z0-9+/]/g, "");
    const whole = clean.length % 4 === 1 ? clean.slice(0, -1) : clean;
    const bytes = new Uint8Array(Math.floor((whole.length * 3) / 4));
    let at = 0;
    for (let start = 0; start < whole.length; start += 32768) {
      const codes = atob(whole.slice(start, start + 32768));
      for (let i = 0; i < codes.length; i++) bytes[at++] = codes.charCodeAt(i);
    }
    return bytes;
  };
  const fromHex = (text) => {
    const bytes = [];
    for (let at = 0; at + 1 < text.length; at += 2) {
      const pair = text.slice(at, at + 2);
      if (!/^[0-9a-f]{2}$/i.test(pair)) break;
      bytes.push(Number.parseInt(pair, 16));
    }
    return Uint8Array.from(bytes);
  };
  const encodeText = (text, encoding) => {
    switch (canon(encoding)) {
      case "utf8": return host.encode(text);
      case "hex": return fromHex(text);
      case "base64": case "base64url": return fromBase64(text);
      case "utf16le": {
        const bytes = new Uint8Array(text.length * 2);
        for (let i = 0; i < text.length; i++) {
          bytes[2 * i] = text.charCodeAt(i) & 255;
          bytes[2 * i + 1] = text.charCodeAt(i) >> 8;
        }
        return bytes;
      }
      default: return Uint8Array.from(text, (_, i) => text.charCodeAt(i) & 255);
    }
  };
  const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

  class Buffer extends Uint8Array {
    static poolSize = 8192;

    static from(value, encoding, length) {
      if (typeof value === "string") return asBuffer(encodeText(value, encoding));
      if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
        return new Buffer(value, encoding, length);
      }
      if (ArrayBuffer.isView(value)) return asBuffer(Uint8Array.from(value));
      if (value?.type === "Buffer" && Array.isArray(value.data)) return Buffer.from(value.data);
      if (value !== null && typeof value === "object") {
        const inner = value.valueOf?.();
        if (inner !== value && inner != null) return Buffer.from(inner, encoding, length);
        return asBuffer(Uint8Array.from(Array.from(value, (item) => Number(item) & 255)));
      }
      checkType(value, "first", "string", "object");
      throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
        "The first argument must be of type string or an instance of Buffer, ArrayBuffer, or "
        + `Array or an Array-like Object. Received ${value}`);
    }

    static alloc(size, fill, encoding) {
      checkType(size, "size", "number");
      const buffer = new Buffer(size);
      return fill === undefined ? buffer : buffer.fill(fill, 0, size, encoding);
    }

    static allocUnsafe(size) { return Buffer.alloc(size); }
    static allocUnsafeSlow(size) { return Buffer.alloc(size); }
    static isBuffer(value) { return value instanceof Buffer; }

    static isEncoding(name) {
      try {
        return typeof name === "string" && Boolean(canon(name));
      } catch {
        return false;
      }
    }

    static byteLength(value, encoding) {
      return typeof value === "string" ? encodeText(value, encoding).length : value.byteLength;
    }

    static concat(list, size) {
      const total = size ?? list.reduce((sum, item) => sum + item.length, 0);
      const buffer = Buffer.alloc(total);
      let at = 0;
      for (const item of list) {
        if (at >= total) break;
        buffer.set(item.length > total - at ? item.subarray(0, total - at) : item, at);
        at += item.length;
      }
      return buffer;
    }

    static compare(left, right) { return Buffer.prototype.compare.call(left, right); }

    toString(encoding, start = 0, end = this.length) {
      const part = plain(this).subarray(Math.max(0, start), Math.min(this.length, end));
      switch (canon(encoding)) {
        case "utf8": return host.decode(part);
        case "hex": return Array.from(part, (b) => b.toString(16).padStart(2, "0")).join("");
        case "base64": return toBase64(part);
        case "base64url": {
          return toBase64(part).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
        }
        case "ascii": return fromCodes(part, 127);
        case "utf16le": {
          let text = "";
          for (let i = 0; i + 1 < part.length; i += 2) {
            text += String.fromCharCode(part[i] | (part[i + 1] << 8));
          }
          return text;
        }
        default: return fromCodes(part, 255);
      }
    }

    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
    [custom]() {
      const shown = this.toString("hex", 0, 50).replace(/(..)(?=.)/g, "$1 ");
      const more = this.length - 50;
      return `<Buffer${shown && " "}${shown}`
        + `${more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : ""}>`;
    }

    toJSON() { return { type: "Buffer", data: Array.from(this) }; }

    equals(other) { return this.compare(other) === 0; }

    compare(other) {
      const shared = Math.min(this.length, other.length);
      for (let i = 0; i < shared; i++) {
        if (this[i] !== other[i]) return this[i] < other[i] ? -1 : 1;
      }
      return Math.sign(this.length - other.length);
    }

    subarray(start, end) { return asBuffer(plain(this).subarray(start, end)); }
    slice(start, end) { return this.subarray(start, end); }

    write(text, offset = 0, length = this.length - offset, encoding = "utf8") {
      if (typeof offset === "string") return this.write(text, 0, this.length, offset);
      if (typeof length === "string") return this.write(text, offset, this.length - offset, length);
      const bytes = encodeText(text, encoding).subarray(0, Math.min(length, this.length - offset));
      this.set(bytes, offset);
      return bytes.length;
    }

    copy(target, at = 0, start = 0, end = this.length) {
      const part = plain(this).subarray(start, Math.min(end, start + target.length - at));
      target.set(part, at);
      return part.length;
    }

    fill(value, start = 0, end = this.length, encoding = "utf8") {
      if (typeof start === "string") return this.fill(value, 0, this.length, start);
      if (typeof value === "number") {
        super.fill(value & 255, start, end);
        return this;
      }
      const bytes = typeof value === "string" ? encodeText(value, encoding) : value;
      const count = bytes.length;
      for (let i = start; i < end; i++) this[i] = count ? bytes[(i - start) % count] : 0;
      return this;
    }

    indexOf(value, from = 0, encoding = "utf8") {
      if (typeof value === "number") return super.indexOf(value & 255, from);
      const wanted = typeof value === "string" ? encodeText(value, encoding) : value;
      const first = from < 0 ? Math.max(0, this.length + from) : from;
      if (wanted.length === 0) return Math.min(first, this.length);
      for (let at = super.indexOf(wanted[0], first); at >= 0;
        at = super.indexOf(wanted[0], at + 1)) {
        let same = 1;
        while (same < wanted.length && this[at + same] === wanted[same]) same++;
        if (same === wanted.length) return at;
      }
      return -1;
    }

    includes(value, from, encoding) { return this.indexOf(value, from, encoding) >= 0; }

    swap16() {
      for (let i = 0; i + 1 < this.length; i += 2) [this[i], this[i + 1]] = [this[i + 1], this[i]];
      return this;
    }
  }

  function asBuffer(bytes) {
    return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const checkRange = (buffer, offset, size) => {
    if (!(offset >= 0 && offset + size <= buffer.length)) {
      throw codedError(RangeError, "ERR_OUT_OF_RANGE",
        `The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. `
        + `Received ${offset}`);
    }
  };
  const numbers = {
    UInt8: ["Uint8", 1], Int8: ["Int8", 1], UInt16: ["Uint16", 2], Int16: ["Int16", 2],
    UInt32: ["Uint32", 4], Int32: ["Int32", 4], BigInt64: ["BigInt64", 8],
    BigUInt64: ["BigUint64", 8], Float: ["Float32", 4], Double: ["Float64", 8],
  };
  for (const [name, [kind, size]] of Object.entries(numbers)) {
    for (const order of size === 1 ? [""] : ["LE", "BE"]) {
      const read = function (offset = 0) {
        checkRange(this, offset, size);
        return view(this)[`get${kind}`](offset, order === "LE");
      };
      const write = function (value, offset = 0) {
        checkRange(this, offset, size);
        view(this)[`set${kind}`](offset, value, order === "LE");
        return offset + size;
      };
      Buffer.prototype[`read${name}${order}`] = read;
      Buffer.prototype[`write${name}${order}`] = write;
      if (name.includes("UInt")) {
        Buffer.prototype[`read${name.replace("UInt", "Uint")}${order}`] = read;
        Buffer.prototype[`write${name.replace("UInt", "Uint")}${order}`] = write;
      }
    }
  }
  for (const name of Object.keys(Buffer.prototype)) {
    Object.defineProperty(Buffer.prototype, name, { enumerable: false });
  }
  return {
    Buffer, kMaxLength: 2 ** 32, SlowBuffer: Buffer, atob, btoa,
    constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 - 24 },
  };
};

globalThis.TextEncoder = class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return host.encode(String(text)); }
  encodeInto(text, target) {
    const bytes = host.encode(text).subarray(0, target.length);
    target.set(bytes);
    return { read: text.length, written: bytes.length };
  }
};

globalThis.TextDecoder = class TextDecoder {
  #fatal;
  #encoding;
  #keepMark;

  constructor(encoding = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    this.#encoding = String(encoding).toLowerCase().replace(/^utf8$/, "utf-8");
    if (!["utf-8", "latin1", "iso-8859-1", "ascii", "utf-16le"].includes(this.#encoding)) {
      throw codedError(RangeError, "ERR_ENCODING_NOT_SUPPORTED",
        `The "${encoding}" encoding is not supported`);
    }
    this.#fatal = fatal;
    this.#keepMark = ignoreBOM;
  }

  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }

  decode(input = new Uint8Array()) {
    const { Buffer } = builtin("buffer");
    const bytes = ArrayBuffer.isView(input)
      ? Buffer.from(input.buffer, input.byteOffset, input.byteLength) : Buffer.from(input);
    const form = this.#encoding === "utf-8" ? "utf8"
      : this.#encoding === "utf-16le" ? "utf16le" : "latin1";
    const text = bytes.toString(form);
    if (this.#fatal && form === "utf8" && !Buffer.from(text).equals(bytes)) {
      throw codedError(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA",
        "The encoded data was not valid for encoding utf-8");
    }
    return this.#keepMark || !text.startsWith("\uFEFF") ? text : text.slice(1);
  }
};
