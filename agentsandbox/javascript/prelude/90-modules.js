// The smaller built-in modules: util, os, url, assert, crypto, zlib and others.

makers.util = () => {
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  const types = {
    isPromise: (value) => value instanceof Promise, isRegExp: (value) => value instanceof RegExp,
    isDate: (value) => value instanceof Date, isMap: (value) => value instanceof Map,
    isSet: (value) => value instanceof Set, isNativeError: (value) => value instanceof Error,
    isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
    isUint8Array: (value) => value instanceof Uint8Array,
    isArrayBuffer: (value) => value instanceof ArrayBuffer,
    isAnyArrayBuffer: (value) => value instanceof ArrayBuffer,
    isAsyncFunction: (value) => constructorName(value) === "AsyncFunction",
    isGeneratorFunction: (value) => constructorName(value) === "GeneratorFunction",
    isBoxedPrimitive: (value) => value instanceof Number || value instanceof String,
    isProxy: () => false,
  };
  const promisify = (action) => {
    checkType(action, "original", "function");
    if (action[promisified]) return action[promisified];
    return function (...words) {
      return new Promise((resolve, reject) => {
        action.call(this, ...words, (error, value) => (error ? reject(error) : resolve(value)));
      });
    };
  };
  promisify.custom = promisified;
  const styleText = (styles, text) => [styles].flat().reduceRight((shown, name) => {
    const [on, off] = inspect.colors[name];
    return `\x1b[${on}m${shown}\x1b[${off}m`;
  }, text);
  return {
    inspect, format, formatWithOptions, promisify, types, styleText, TextEncoder, TextDecoder,
    callbackify: (action) => (...words) => {
      const callback = words.pop();
      action(...words).then((value) => nextTick(callback, null, value),
        (error) => nextTick(callback, error));
    },
    inherits(Class, Parent) {
      Object.defineProperty(Class, "super_", { value: Parent, writable: true, configurable: true });
      Object.setPrototypeOf(Class.prototype, Parent.prototype);
    },
    deprecate: (action) => action,
    debuglog: () => Object.assign(() => {}, { enabled: false }),
    debug: () => Object.assign(() => {}, { enabled: false }),
    isDeepStrictEqual: (left, right) => sameDeep(left, right, true),
    stripVTControlCharacters: (text) => text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, ""),
    toUSVString: (text) => String(text).toWellFormed(),
    isArray: Array.isArray,
    parseArgs,
  };
};

/** util.parseArgs. */
function parseArgs({ args = process.argv.slice(2), options = {}, strict = true,
  allowPositionals = !strict, tokens = false } = {}) {
  const values = Object.create(null);
  const positionals = [];
  const store = (name, value, raw) => {
    const option = options[name];
    if (strict && !option) {
      throw codedError(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${raw}'`
        + (allowPositionals && raw.startsWith("-") ? `. To specify a positional argument starting `
        + `with a '-', place it at the end of the command after '--', as in '-- "${raw}"` : ""));
    }
    if (strict && option.type === "string" && typeof value !== "string") {
      const short = option.short ? `-${option.short}, ` : "";
      throw codedError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
        `Option '${short}--${name} <value>' argument missing`);
    }
    if (strict && option.type === "boolean" && typeof value === "string") {
      const short = option.short ? `-${option.short}, ` : "";
      throw codedError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
        `Option '${short}--${name}' does not take an argument`);
    }
    const kept = value ?? true;
    if (option?.multiple) (values[name] ??= []).push(kept);
    else values[name] = kept;
  };
  const waiting = [...args];
  while (waiting.length) {
    const word = waiting.shift();
    if (word === "--") {
      positionals.push(...waiting.splice(0));
    } else if (word.startsWith("--")) {
      const at = word.indexOf("=");
      const name = at < 0 ? word.slice(2) : word.slice(2, at);
      let value = at < 0 ? undefined : word.slice(at + 1);
      if (value === undefined && options[name]?.type === "string" && waiting.length
        && !(waiting[0].length > 1 && waiting[0].startsWith("-"))) value = waiting.shift();
      store(name, value, at < 0 ? word : word.slice(0, at));
    } else if (word.startsWith("-") && word.length > 1) {
      const name = Object.keys(options).find((key) => options[key].short === word[1]) ?? word[1];
      if (options[name]?.type === "string") {
        store(name, word.length > 2 ? word.slice(2) : waiting.shift(), `-${word[1]}`);
      } else {
        store(name, undefined, `-${word[1]}`);
        if (word.length > 2) waiting.unshift(`-${word.slice(2)}`);
      }
    } else {
      if (!allowPositionals) {
        throw codedError(TypeError, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
          `Unexpected argument '${word}'. This command does not take positional arguments`);
      }
      positionals.push(word);
    }
  }
  for (const [name, option] of Object.entries(options)) {
    if ("default" in option && !(name in values)) values[name] = option.default;
  }
  if (tokens) throw new Error("util.parseArgs: tokens are not available in the sandbox");
  return { values, positionals };
}

makers.os = () => ({
  EOL: "\n", devNull: "/dev/null", platform: () => "linux", type: () => "Linux",
  arch: () => "x64", release: () => "6.1.0", version: () => "#1 SMP", machine: () => "x86_64",
  hostname: () => settings.hostname, homedir: () => process.env.HOME ?? "/",
  tmpdir: () => (process.env.TMPDIR ?? "/tmp").replace(/(?<=.)\/$/, ""), endianness: () => "LE",
  cpus: () => [], availableParallelism: () => 1, totalmem: () => 2 ** 32, freemem: () => 2 ** 31,
  loadavg: () => [0, 0, 0], uptime: () => performance.now() / 1000, networkInterfaces: () => ({}),
  userInfo: () => ({ uid: 1000, gid: 1000, username: settings.user,
    homedir: process.env.HOME ?? "/", shell: "/bin/bash" }),
  constants: { signals: { SIGINT: 2, SIGTERM: 15, SIGKILL: 9 }, errno: {} },
});

/** URLSearchParams. */
class URLSearchParams {
  #pairs = [];
  #changed = () => {};

  constructor(source = "", changed = undefined) {
    if (changed) this.#changed = changed;
    if (typeof source === "string") {
      for (const part of source.replace(/^\?/, "").split("&")) {
        if (part === "") continue;
        const at = part.indexOf("=");
        const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
        this.#pairs.push([decodePlus(name), decodePlus(value)]);
      }
    } else {
      const pairs = source?.[Symbol.iterator] ? source : Object.entries(source ?? {});
      for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)]);
    }
  }
  append(name, value) { this.#pairs.push([String(name), String(value)]); this.#changed(this); }
  delete(name) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== name);
    this.#changed(this);
  }
  get(name) { return this.#pairs.find((pair) => pair[0] === name)?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]); }
  has(name) { return this.#pairs.some((pair) => pair[0] === name); }
  set(name, value) {
    const first = this.#pairs.findIndex((pair) => pair[0] === name);
    if (first < 0) this.#pairs.push([String(name), String(value)]);
    else {
      this.#pairs = this.#pairs.filter((pair, at) => pair[0] !== name || at === first);
      this.#pairs[first] = [String(name), String(value)];
    }
    this.#changed(this);
  }
  sort() {
    this.#pairs.sort((left, right) => (left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0));
    this.#changed(this);
  }
  get size() { return this.#pairs.length; }
  forEach(action, self) { for (const [name, value] of this) action.call(self, value, name, this); }
  * keys() { for (const [name] of this.#pairs) yield name; }
  * values() { for (const [, value] of this.#pairs) yield value; }
  * entries() { for (const pair of this.#pairs) yield [...pair]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() {
    return this.#pairs.map(([name, value]) => `${encodePlus(name)}=${encodePlus(value)}`).join("&");
  }
  [custom]() {
    const shown = this.#pairs.map((pair) => pair.map(quoteString).join(" => "));
    return shown.length ? `URLSearchParams { ${shown.join(", ")} }` : "URLSearchParams {}";
  }
}
const decodePlus = (text) => {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
};
const encodePlus = (text) => encodeURIComponent(text.toWellFormed()).replaceAll("%20", "+")
  .replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const PORTS = { "http:": "80", "https:": "443", "ftp:": "21", "ws:": "80", "wss:": "443" };

/** URL, for the addresses that scripts write: scheme, authority, path, query and fragment. */
class URL {
  #parts;
  #search;

  constructor(text, base) {
    const given = String(text).trim();
    const parts = URL.#parse(given) ?? (base === undefined ? null
      : URL.#relative(given, base instanceof URL ? base : new URL(base)));
    if (parts === null) {
      const error = codedError(TypeError, "ERR_INVALID_URL", "Invalid URL");
      error.input = given;
      if (base !== undefined) error.base = String(base);
      throw error;
    }
    this.#parts = parts;
    this.#link();
  }
  static canParse(text, base) {
    try {
      return Boolean(new URL(text, base));
    } catch {
      return false;
    }
  }
  static #parse(text) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text);
    if (!scheme) return null;
    const protocol = scheme[0].toLowerCase();
    const special = protocol in PORTS || protocol === "file:";
    let rest = text.slice(scheme[0].length);
    if (special) rest = rest.replaceAll("\\", "/");
    const [, body, search = "", hash = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest);
    const parts = { protocol, username: "", password: "", hostname: "", port: "", pathname: body,
      search: search === "?" ? "" : URL.#escape(search, /[^\x21\x24-\x3b\x3d\x3f-\x7e]/gu),
      hash: hash === "#" ? "" : URL.#escape(hash, /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu),
      opaque: false };
    if (!special && !body.startsWith("//")) {
      parts.opaque = !body.startsWith("/");
      return parts;
    }
    const found = protocol === "file:" ? /^\/\/([^/]*)(.*)$/s.exec(body) ?? [body, "", body]
      : /^\/*([^/]*)(.*)$/s.exec(body);
    const authority = /^(?:([^@:]*)(?::([^@]*))?@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(found[1]);
    if (!authority) return null;
    const hostname = authority[3].toLowerCase();
    if (special && protocol !== "file:" && hostname === "") return null;
    if (/[\s<>^|%#?]/.test(hostname) || Number(authority[4] ?? 0) > 65535) return null;
    const port = authority[4] ? String(Number(authority[4])) : "";
    Object.assign(parts, { username: authority[1] ?? "", password: authority[2] ?? "", hostname,
      port: PORTS[protocol] === port ? "" : port });
    parts.pathname = URL.#clean(found[2] || (special ? "/" : ""));
    return parts;
  }
  static #escape(text, unsafe) {
    return text.replace(unsafe, (letter) => (letter === "%" ? letter
      : encodeURIComponent(letter.toWellFormed()).replace("'", "%27")));
  }
  static #clean(path) {
    const done = [];
    const all = URL.#escape(path, /[^\x21\x24-\x3b\x3d\x40-\x5f\x61-\x7a\x7c\x7e]/gu).split("/");
    all.forEach((part, at) => {
      const last = at === all.length - 1;
      if (part === "..") {
        if (done.length > 1) done.pop();
        if (last) done.push("");
      } else if (part === ".") {
        if (last) done.push("");
      } else done.push(part);
    });
    return done.join("/");
  }
  static #relative(text, base) {
    if (base.#parts.opaque) return null;
    if (text.startsWith("//")) return URL.#parse(base.protocol + text);
    const head = `${base.protocol}//${base.username ? `${base.username}${base.password
      ? `:${base.password}` : ""}@` : ""}${base.host}`;
    if (text.startsWith("/")) return URL.#parse(head + text);
    if (text.startsWith("?")) return URL.#parse(head + base.pathname + text);
    if (text === "" || text.startsWith("#")) {
      return URL.#parse(head + base.pathname + base.search + text);
    }
    return URL.#parse(head + base.pathname.replace(/[^/]*$/, "") + text);
  }
  #link() {
    this.#search = new URLSearchParams(this.#parts.search, (changed) => {
      const query = changed.toString();
      this.#parts.search = query ? `?${query}` : "";
    });
  }
  get href() {
    const { protocol, username, password, pathname, search, hash, opaque } = this.#parts;
    const login = username ? `${username}${password ? `:${password}` : ""}@` : "";
    const slashes = opaque || (!this.host && protocol !== "file:") ? "" : "//";
    return `${protocol}${slashes}${login}${this.host}${pathname}${search}${hash}`;
  }
  set href(text) { this.#parts = new URL(text).#parts; this.#link(); }
  get origin() {
    return this.protocol in PORTS ? `${this.protocol}//${this.host}` : "null";
  }
  get host() { return this.#parts.hostname + (this.#parts.port ? `:${this.#parts.port}` : ""); }
  set host(text) { [this.#parts.hostname, this.#parts.port = ""] = text.split(":"); }
  get searchParams() { return this.#search; }
  get search() { return this.#parts.search; }
  set search(text) {
    this.#parts.search = text && text !== "?" ? `?${String(text).replace(/^\?/, "")}` : "";
    this.#link();
  }
  get hash() { return this.#parts.hash; }
  set hash(text) { this.#parts.hash = text ? `#${String(text).replace(/^#/, "")}` : ""; }
  get pathname() { return this.#parts.pathname; }
  set pathname(text) { this.#parts.pathname = URL.#clean(`/${text}`.replace(/^\/\//, "/")); }
  get protocol() { return this.#parts.protocol; }
  set protocol(text) { this.#parts.protocol = `${text.replace(/:$/, "")}:`; }
  get hostname() { return this.#parts.hostname; }
  set hostname(text) { this.#parts.hostname = text; }
  get port() { return this.#parts.port; }
  set port(text) { this.#parts.port = PORTS[this.protocol] === `${text}` ? "" : `${text}`; }
  get username() { return this.#parts.username; }
  set username(text) { this.#parts.username = text; }
  get password() { return this.#parts.password; }
  set password(text) { this.#parts.password = text; }
  toString() { return this.href; }
  toJSON() { return this.href; }
  [custom](depth, options) {
    const shown = {};
    for (const name of ["href", "origin", "protocol", "username", "password", "host", "hostname",
      "port", "pathname", "search", "searchParams", "hash"]) shown[name] = this[name];
    return `URL ${inspect(shown, options)}`;
  }
}
Object.assign(globalThis, { URL, URLSearchParams });

makers.url = () => ({
  URL, URLSearchParams,
  fileURLToPath(address) {
    const url = typeof address === "string" ? new URL(address) : address;
    if (url.protocol !== "file:") {
      throw codedError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    }
    return decodeURIComponent(url.pathname);
  },
  pathToFileURL(path) {
    const whole = builtin("path").resolve(path) + (path.endsWith("/") && path !== "/" ? "/" : "");
    return new URL(`file://${whole.replace(/[%\\\n\r\t#?[\]|^~]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)}`);
  },
  parse(text, query) {
    const url = new URL(text, "relative://x");
    const known = url.protocol !== "relative:";
    const search = url.search || null;
    return { protocol: known ? url.protocol : null, slashes: known || null, auth: null,
      host: known ? url.host : null, port: url.port || null, hostname: known ? url.hostname : null,
      hash: url.hash || null, search, pathname: url.pathname,
      query: query ? builtin("querystring").parse(url.search.slice(1)) : search?.slice(1) ?? null,
      path: url.pathname + url.search, href: known ? url.href : text };
  },
  format: (url) => (typeof url === "string" ? url : url.href
    ?? `${url.protocol ?? ""}//${url.host ?? url.hostname ?? ""}${url.pathname ?? ""}`
      + (url.search ?? "")),
  resolve: (from, to) => new URL(to, from).href,
});

makers.querystring = () => {
  const parse = (text) => {
    const found = Object.create(null);
    for (const [name, value] of new URLSearchParams(text)) {
      if (name in found) found[name] = [found[name], value].flat();
      else found[name] = value;
    }
    return found;
  };
  const stringify = (fields) => Object.entries(fields).flatMap(([name, value]) => [value].flat()
    .map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one ?? "")}`)).join("&");
  return { parse, stringify, decode: parse, encode: stringify, escape: encodeURIComponent,
    unescape: decodeURIComponent };
};

/** Whether two values are deeply equal, as assert.deepStrictEqual or assert.deepEqual mean it. */
function sameDeep(left, right, strict, seen = []) {
  if (Object.is(left, right) || !strict && left == right) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") {
    return false;
  }
  if (seen.some(([one, other]) => one === left && other === right)) return true;
  const next = [...seen, [left, right]];
  if (strict && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (left instanceof Date || right instanceof Date) {
    return left instanceof Date && right instanceof Date && left.getTime() === right.getTime();
  }
  if (left instanceof RegExp) return String(left) === String(right);
  if (left instanceof Error && (left.message !== right.message || left.name !== right.name)) {
    return false;
  }
  if (left instanceof Map || left instanceof Set) {
    if (left.constructor !== right.constructor || left.size !== right.size) return false;
    const rest = [...right];
    return [...left].every((item) => {
      const at = rest.findIndex((other) => sameDeep(item, other, strict, next));
      if (at >= 0) rest.splice(at, 1);
      return at >= 0;
    });
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key)
    && sameDeep(left[key], right[key], strict, next));
}

makers.assert = () => {
  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message);
      Object.assign(this, { generatedMessage: false, code: "ERR_ASSERTION", actual, expected,
        operator });
    }
    get name() { return "AssertionError"; }
  }
  const fail = (message, words, actual, expected, operator) => {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ message: message ?? words, actual, expected, operator });
    error.generatedMessage = message === undefined;
    throw error;
  };
  const assert = (value, message) => {
    if (!value) {
      fail(message, "The expression evaluated to a falsy value", value, true, "==");
    }
  };
  const compare = (name, holds, words) => {
    assert[name] = (actual, expected, message) => {
      if (!holds(actual, expected)) {
        fail(message, `${words}\n\n${inspect(actual)} !== ${inspect(expected)}\n`, actual, expected,
          name);
      }
    };
  };
  compare("strictEqual", Object.is, "Expected values to be strictly equal:");
  compare("notStrictEqual", (a, b) => !Object.is(a, b),
    'Expected "actual" to be strictly unequal to:');
  compare("deepStrictEqual", (a, b) => sameDeep(a, b, true),
    "Expected values to be strictly deep-equal:");
  compare("deepEqual", (a, b) => sameDeep(a, b, false),
    "Expected values to be loosely deep-equal:");
  compare("notDeepStrictEqual", (a, b) => !sameDeep(a, b, true),
    'Expected "actual" not to be strictly deep-equal to:');
  compare("notDeepEqual", (a, b) => !sameDeep(a, b, false),
    'Expected "actual" not to be loosely deep-equal to:');
  compare("equal", (a, b) => a == b || a !== a && b !== b, "Expected values to be loosely equal:");
  compare("notEqual", (a, b) => a != b, 'Expected "actual" to be loosely unequal to:');
  const matches = (error, expected) => {
    if (expected === undefined || typeof expected === "string") return true;
    if (expected instanceof RegExp) return expected.test(String(error));
    if (typeof expected === "function") {
      return expected.prototype !== undefined && error instanceof expected
        || expected.prototype === undefined && expected(error) === true
        || !(expected.prototype instanceof Error) && expected !== Error
          && expected.call({}, error) === true;
    }
    return Object.keys(expected).every((key) => (expected[key] instanceof RegExp
      ? expected[key].test(error[key]) : sameDeep(error[key], expected[key], true)));
  };
  Object.assign(assert, {
    AssertionError, ok: assert,
    fail: (message) => fail(message, "Failed", undefined, undefined, "fail"),
    match(text, pattern, message) {
      if (!pattern.test(text)) {
        fail(message, `The input did not match the regular expression ${pattern}. Input:\n\n`
          + `${inspect(text)}\n`, text, pattern, "match");
      }
    },
    doesNotMatch(text, pattern, message) {
      if (pattern.test(text)) {
        fail(message, `The input was expected to not match the regular expression ${pattern}. `
          + `Input:\n\n${inspect(text)}\n`, text, pattern, "doesNotMatch");
      }
    },
    throws(action, expected, message) {
      try {
        action();
      } catch (error) {
        if (!matches(error, expected)) throw error;
        return;
      }
      fail(typeof expected === "string" ? expected : message, "Missing expected exception.",
        undefined, expected, "throws");
    },
    doesNotThrow(action) { action(); },
    async rejects(action, expected, message) {
      try {
        await (typeof action === "function" ? action() : action);
      } catch (error) {
        if (!matches(error, expected)) throw error;
        return;
      }
      fail(message, "Missing expected rejection.", undefined, expected, "rejects");
    },
    async doesNotReject(action) { await (typeof action === "function" ? action() : action); },
    ifError(value) { if (value !== null && value !== undefined) throw value; },
  });
  assert.strict = Object.assign((value, message) => assert(value, message), assert,
    { equal: assert.strictEqual, notEqual: assert.notStrictEqual,
      deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual });
  return assert;
};
makers["assert/strict"] = () => builtin("assert").strict;

makers.crypto = () => {
  const { Buffer } = builtin("buffer");
  const digestOf = (name, bytes) => {
    const answer = ask({ op: "hash", name }, bytes);
    if (answer.errno) {
      throw codedError(Error, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`);
    }
    return Buffer.from(answerBytes());
  };
  const toBytes = (data, encoding) => (typeof data === "string"
    ? Buffer.from(data, encoding) : data);
  class Hash {
    constructor(name) {
      digestOf(name, new Uint8Array());
      this.name = name;
      this.parts = [];
    }
    update(data, encoding) { this.parts.push(Buffer.from(toBytes(data, encoding))); return this; }
    digest(encoding) {
      const digest = digestOf(this.name, Buffer.concat(this.parts));
      return encoding && encoding !== "buffer" ? digest.toString(encoding) : digest;
    }
    copy() { return Object.assign(new Hash(this.name), { parts: [...this.parts] }); }
  }
  class Hmac extends Hash {
    constructor(name, key) {
      super(name);
      const block = /512|384/.test(name) ? 128 : 64;
      let bytes = Buffer.from(toBytes(key));
      if (bytes.length > block) bytes = digestOf(name, bytes);
      const padded = Buffer.concat([bytes, Buffer.alloc(block - bytes.length)]);
      this.outer = padded.map((byte) => byte ^ 0x5c);
      this.parts.push(Buffer.from(padded.map((byte) => byte ^ 0x36)));
    }
    digest(encoding) {
      const inner = digestOf(this.name, Buffer.concat(this.parts));
      const digest = digestOf(this.name, Buffer.concat([this.outer, inner]));
      return encoding ? digest.toString(encoding) : digest;
    }
  }
  const randomBytes = (size) => {
    checkType(size, "size", "number");
    ask({ op: "random", size });
    return Buffer.from(answerBytes());
  };
  const randomUUID = () => {
    const bytes = randomBytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  return {
    createHash: (name) => new Hash(name), createHmac: (name, key) => new Hmac(name, key),
    hash: (name, data, encoding = "hex") => new Hash(name).update(data).digest(encoding),
    getHashes: () => ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"],
    randomBytes, randomUUID,
    randomInt: (low, high) => (high === undefined ? Math.floor(Math.random() * low)
      : low + Math.floor(Math.random() * (high - low))),
    timingSafeEqual: (left, right) => Buffer.from(left).equals(Buffer.from(right)),
    getRandomValues(array) {
      array.set(randomBytes(array.length));
      return array;
    },
    webcrypto: {},
  };
};
lazy(globalThis, "crypto", () => {
  const { randomUUID, getRandomValues } = builtin("crypto");
  return { randomUUID, getRandomValues };
});

makers.zlib = () => {
  const { Buffer } = builtin("buffer");
  const zlib = { constants: {} };
  const forms = { gzip: ["deflate", "gzip"], gunzip: ["inflate", "gzip"],
    deflate: ["deflate", "zlib"], inflate: ["inflate", "zlib"], deflateRaw: ["deflate", "raw"],
    inflateRaw: ["inflate", "raw"] };
  for (const [name, [op, form]] of Object.entries(forms)) {
    const action = (data) => {
      const answer = ask({ op, form }, typeof data === "string" ? Buffer.from(data) : data);
      if (answer.errno) throw codedError(Error, "Z_DATA_ERROR", "incorrect header check");
      return Buffer.from(answerBytes());
    };
    zlib[`${name}Sync`] = action;
    zlib[name] = (data, options, callback) => withCallback(action)(data, callback ?? options);
  }
  return zlib;
};

makers.perf_hooks = () => ({ performance });
makers.tty = () => ({ isatty: () => false });
makers.constants = () => builtin("fs").constants;
makers.async_hooks = () => ({
  AsyncLocalStorage: class AsyncLocalStorage {
    run(store, action, ...words) {
      const before = this.store;
      this.store = store;
      try {
        return action(...words);
      } finally {
        this.store = before;
      }
    }
    getStore() { return this.store; }
  },
});
makers.v8 = () => ({ getHeapStatistics: () => ({ heap_size_limit: 2 ** 28 }),
  serialize: (value) => builtin("buffer").Buffer.from(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(bytes.toString()) });
makers.vm = () => ({
  runInThisContext: (source, options) => host.script(source,
    options?.filename ?? (typeof options === "string" ? options : "evalmachine.<anonymous>")),
});

// What the language's hosts have and the engine does not.

globalThis.structuredClone = (value) => {
  const seen = new Map();
  const clone = (item) => {
    if (typeof item === "function" || typeof item === "symbol") {
      const error = new Error(`${String(item)} could not be cloned.`);
      error.name = "DataCloneError";
      throw error;
    }
    if (item === null || typeof item !== "object") return item;
    if (seen.has(item)) return seen.get(item);
    let copy;
    if (item instanceof Date) return new Date(item);
    if (item instanceof RegExp) return new RegExp(item.source, item.flags);
    if (ArrayBuffer.isView(item)) return item.slice();
    if (item instanceof ArrayBuffer) return item.slice(0);
    if (item instanceof Map) {
      seen.set(item, copy = new Map());
      for (const [key, one] of item) copy.set(clone(key), clone(one));
      return copy;
    }
    if (item instanceof Set) {
      seen.set(item, copy = new Set());
      for (const one of item) copy.add(clone(one));
      return copy;
    }
    if (item instanceof Error) {
      copy = new item.constructor(item.message);
      copy.stack = item.stack;
      return copy;
    }
    seen.set(item, copy = Array.isArray(item) ? new Array(item.length) : {});
    for (const key of Object.keys(item)) copy[key] = clone(item[key]);
    return copy;
  };
  return clone(value);
};

globalThis.AbortController ??= class AbortController {
  constructor() {
    const signal = new EventTarget();
    Object.assign(signal, { aborted: false, reason: undefined,
      throwIfAborted() { if (signal.aborted) throw signal.reason; } });
    this.signal = signal;
  }
  abort(reason) {
    if (this.signal.aborted) return;
    const error = new Error("This operation was aborted");
    error.name = "AbortError";
    Object.assign(this.signal, { aborted: true, reason: reason ?? error });
    this.signal.dispatchEvent({ type: "abort", target: this.signal });
  }
};
globalThis.EventTarget ??= class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener) {
    this.#listeners.set(type, [...this.#listeners.get(type) ?? [], listener]);
  }
  removeEventListener(type, listener) {
    this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((one) => one !== listener));
  }
  dispatchEvent(event) {
    for (const listener of this.#listeners.get(event.type) ?? []) {
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
    }
    return true;
  }
};
globalThis.Event ??= class Event {
  constructor(type) { this.type = type; }
};

const dateText = Date.prototype;
const pad = (number) => String(number).padStart(2, "0");
Object.defineProperties(dateText, {
  toString: { configurable: true, writable: true, value: function toString() {
    if (Number.isNaN(this.getTime())) return "Invalid Date";
    return `${this.toDateString()} ${pad(this.getHours())}:${pad(this.getMinutes())}:`
      + `${pad(this.getSeconds())} GMT+0000 (Coordinated Universal Time)`;
  } },
  toLocaleDateString: { configurable: true, writable: true,
    value: function toLocaleDateString(locale, options) {
      return localDate(this, options ?? { year: "numeric", month: "numeric", day: "numeric" });
    } },
  toLocaleTimeString: { configurable: true, writable: true,
    value: function toLocaleTimeString(locale, options) {
      return localTime(this, options ?? {});
    } },
  toLocaleString: { configurable: true, writable: true,
    value: function toLocaleString(locale, options) {
      if (options?.dateStyle || options?.month || options?.year || options?.weekday) {
        return localDate(this, options);
      }
      return `${localDate(this, { year: "numeric", month: "numeric", day: "numeric" })}, `
        + localTime(this, {});
    } },
});

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August",
  "September", "October", "November", "December"];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Return a date in American English, in UTC: the only locale of the sandbox. */
function localDate(date, options) {
  const day = options.day === "2-digit" ? pad(date.getDate()) : date.getDate();
  const year = options.year === "2-digit" ? pad(date.getFullYear() % 100) : date.getFullYear();
  if (options.month === "long" || options.month === "short") {
    const name = MONTHS[date.getMonth()];
    const month = options.month === "long" ? name : name.slice(0, 3);
    const weekday = options.weekday ? `${options.weekday === "long" ? DAYS[date.getDay()]
      : DAYS[date.getDay()].slice(0, 3)}, ` : "";
    return `${weekday}${month}${options.day ? ` ${day}` : ""}`
      + `${options.year ? `${options.day ? "," : ""} ${year}` : ""}`;
  }
  const month = options.month === "2-digit" ? pad(date.getMonth() + 1) : date.getMonth() + 1;
  return [options.month && month, options.day && day, options.year && year].filter(Boolean)
    .join("/");
}

function localTime(date, options) {
  const hours = date.getHours();
  const clock = options.hour12 === false ? pad(hours) : hours % 12 || 12;
  const half = options.hour12 === false ? "" : hours < 12 ? " AM" : " PM";
  const seconds = options.hour && !options.second ? "" : `:${pad(date.getSeconds())}`;
  return `${options.hour === "2-digit" ? String(clock).padStart(2, "0") : clock}:`
    + `${pad(date.getMinutes())}${seconds}${half}`;
}

Object.defineProperty(Number.prototype, "toLocaleString", { configurable: true, writable: true,
  value: function toLocaleString(locale, options = {}) {
    if (!Number.isFinite(Number(this))) return Number.isNaN(Number(this)) ? "NaN"
      : this < 0 ? "-∞" : "∞";
    const percent = options.style === "percent";
    const value = Number(this) * (percent ? 100 : 1);
    const least = options.minimumFractionDigits ?? (options.style === "currency" ? 2 : 0);
    const most = options.maximumFractionDigits ?? Math.max(least, percent ? 0
      : options.style === "currency" ? 2 : 3);
    let [whole, part = ""] = Math.abs(value).toFixed(most).split(".");
    while (part.length > least && part.endsWith("0")) part = part.slice(0, -1);
    if (options.useGrouping !== false) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    const mark = { USD: "$", EUR: "€", GBP: "£", JPY: "¥" }[options.currency] ?? "";
    return `${value < 0 ? "-" : ""}${mark}${whole}${part ? `.${part}` : ""}${percent ? "%" : ""}`;
  } });
Object.defineProperty(BigInt.prototype, "toLocaleString", { configurable: true, writable: true,
  value: function toLocaleString() { return String(this).replace(/\B(?=(\d{3})+$)/g, ","); } });

/** The part of Intl that can be answered without a locale's data. */
globalThis.Intl = {
  NumberFormat: class NumberFormat {
    #options;
    constructor(locale, options) { this.#options = options; }
    format(number) { return number.toLocaleString("en-US", this.#options); }
    resolvedOptions() { return { locale: "en-US" }; }
  },
  DateTimeFormat: class DateTimeFormat {
    #options;
    constructor(locale, options) { this.#options = options; }
    format(date) { return new Date(date ?? Date.now()).toLocaleDateString("en-US", this.#options); }
    resolvedOptions() { return { locale: "en-US", timeZone: "UTC", calendar: "gregory" }; }
  },
  Collator: class Collator {
    compare(left, right) { return String(left).localeCompare(right); }
  },
};
