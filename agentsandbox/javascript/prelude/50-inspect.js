// util.inspect and util.format: values as node's console prints them.

const custom = Symbol.for("nodejs.util.inspect.custom");
const LINE_WIDTH = 80;
const LONG_STRING = 16;
const ESCAPES = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
const COLORS = {
  number: [33, 39], bigint: [33, 39], boolean: [33, 39], string: [32, 39], symbol: [32, 39],
  undefined: [90, 39], null: [1, 22], special: [36, 39], date: [35, 39], regexp: [31, 39],
  name: [], module: [4, 24],
};

const widthOf = (text) => {
  const bare = text.replace(/\x1b\[\d+m/g, "");
  let width = 0;
  for (const character of bare) {
    const code = character.codePointAt(0);
    if (code >= 0x300 && code <= 0x36f || code === 0x200d || code >= 0xfe00 && code <= 0xfe0f) {
      continue;
    }
    const wide = code >= 0x1100 && (code <= 0x115f || code >= 0x2e80 && code <= 0xa4cf
      || code >= 0xac00 && code <= 0xd7a3 || code >= 0xf900 && code <= 0xfaff
      || code >= 0xfe30 && code <= 0xfe6f || code >= 0xff00 && code <= 0xff60
      || code >= 0xffe0 && code <= 0xffe6 || code >= 0x1f300 && code <= 0x1f64f
      || code >= 0x1f900 && code <= 0x1f9ff || code >= 0x20000 && code <= 0x3fffd);
    width += wide ? 2 : 1;
  }
  return width;
};

const bareLength = (text) => text.replace(/\x1b\[\d+m/g, "").length;

const UNPRINTABLE = new RegExp("[\\x00-\\x1f\\x7f-\\x9f\\\\]|[\\ud800-\\udbff](?![\\udc00-\\udfff])"
  + "|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]", "g");

function quoteString(text) {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"'
    : !text.includes("`") && !text.includes("${") ? "`" : "'";
  const body = text.replace(UNPRINTABLE,
    (character) => ESCAPES[character] ?? (character.charCodeAt(0) > 255
      ? `\\u${character.charCodeAt(0).toString(16).toUpperCase()}`
      : `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`));
  return `${quote}${quote === "'" ? body.replaceAll("'", "\\'") : body}${quote}`;
}

const isIdentifier = (key) => /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key);

/** The class that made an object: the name of its constructor, null without a prototype. */
function constructorName(value) {
  for (let proto = value; proto; proto = Object.getPrototypeOf(proto)) {
    const own = Object.getOwnPropertyDescriptor(proto, "constructor");
    if (own !== undefined && typeof own.value === "function" && own.value.name !== ""
      && (value instanceof own.value || proto === own.value.prototype)) {
      return own.value.name;
    }
  }
  return null;
}

class Inspector {
  constructor(options) {
    this.depth = options.depth === undefined ? 2 : options.depth ?? Infinity;
    this.colors = Boolean(options.colors);
    this.showHidden = Boolean(options.showHidden);
    this.customInspect = options.customInspect ?? true;
    this.maxArrayLength = options.maxArrayLength === undefined ? 100
      : options.maxArrayLength ?? Infinity;
    this.maxStringLength = options.maxStringLength === undefined ? 10000
      : options.maxStringLength ?? Infinity;
    this.breakLength = options.breakLength ?? LINE_WIDTH;
    this.compact = options.compact === undefined ? 3 : options.compact === true ? 3
      : Number(options.compact);
    this.sorted = options.sorted ?? false;
    this.getters = options.getters ?? false;
    this.options = options;
    this.seen = [];
    this.circular = new Map();
    this.indentation = 0;
    this.deepest = 0;
  }

  style(text, kind) {
    const [on, off] = this.colors ? COLORS[kind] : [];
    return on === undefined ? text : `\x1b[${on}m${text}\x1b[${off}m`;
  }

  primitive(value) {
    if (typeof value === "string") {
      let rest = "";
      let text = value;
      if (text.length > this.maxStringLength) {
        const more = text.length - this.maxStringLength;
        text = text.slice(0, this.maxStringLength);
        rest = `... ${more} more character${more > 1 ? "s" : ""}`;
      }
      if (text.length > LONG_STRING && text.length > this.breakLength - this.indentation - 4) {
        const lines = text.split(/(?<=\n)/);
        return lines.map((line) => this.style(quoteString(line), "string"))
          .join(` +\n${" ".repeat(this.indentation + 2)}`) + rest;
      }
      return this.style(quoteString(text), "string") + rest;
    }
    if (typeof value === "number") return this.style(numberText(value), "number");
    if (typeof value === "bigint") return this.style(`${value}n`, "bigint");
    if (typeof value === "symbol") return this.style(String(value), "symbol");
    if (value === null) return this.style("null", "null");
    return this.style(String(value), typeof value);
  }

  value(value, level) {
    if (value === null || typeof value !== "object" && typeof value !== "function") {
      return this.primitive(value);
    }
    const own = this.customInspect ? value[custom] : undefined;
    if (typeof own === "function" && own !== inspect
      && !(value.constructor && value.constructor.prototype === value)) {
      const left = this.depth === Infinity ? Infinity : this.depth - level;
      const shown = own.call(value, left, { ...this.options, depth: left }, inspect);
      if (shown !== value) {
        return typeof shown === "object" ? this.value(shown, level)
          : String(shown).replaceAll("\n", `\n${" ".repeat(this.indentation)}`);
      }
    }
    if (this.seen.includes(value)) {
      if (!this.circular.has(value)) this.circular.set(value, this.circular.size + 1);
      return this.style(`[Circular *${this.circular.get(value)}]`, "special");
    }
    return this.object(value, level);
  }

  keys(value) {
    const names = this.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
    const symbols = Object.getOwnPropertySymbols(value)
      .filter((key) => this.showHidden || Object.prototype.propertyIsEnumerable.call(value, key));
    return [...names, ...symbols];
  }

  prefix(name, tag, fallback, size = "") {
    const shownTag = tag !== "" && name !== tag ? `[${tag}] ` : "";
    if (name === null) return `[${fallback}${size}: null prototype] ${shownTag}`;
    return `${name}${size} ${shownTag}`;
  }

  object(value, level) {
    const name = constructorName(value);
    let tag = value[Symbol.toStringTag];
    if (typeof tag !== "string" || tag === "" || tag === name) tag = "";
    let keys = this.keys(value);
    let braces = ["{", "}"];
    let base = "";
    let entries = null;
    let isArray = false;
    const numbered = (key) => typeof key === "string" && /^(0|[1-9]\d*)$/.test(key);
    if (Array.isArray(value)) {
      keys = keys.filter((key) => !numbered(key));
      const head = name !== "Array" || tag !== ""
        ? this.prefix(name, tag, "Array", `(${value.length})`) : "";
      braces = [`${head}[`, "]"];
      if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
      isArray = true;
      entries = (next) => this.items(value, next);
    } else if (value instanceof Set) {
      const head = this.prefix(name, tag, "Set", `(${value.size})`);
      if (value.size === 0 && keys.length === 0) return `${head}{}`;
      braces = [`${head}{`, "}"];
      entries = (next) => this.members(value, next);
    } else if (value instanceof Map) {
      const head = this.prefix(name, tag, "Map", `(${value.size})`);
      if (value.size === 0 && keys.length === 0) return `${head}{}`;
      braces = [`${head}{`, "}"];
      entries = (next) => this.pairs(value, next);
    } else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      keys = keys.filter((key) => !numbered(key));
      const head = this.prefix(name, "", "TypedArray", `(${value.length})`);
      braces = [`${head}[`, "]"];
      if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
      isArray = true;
      entries = (next) => this.items(value, next);
    } else if (value instanceof ArrayBuffer) {
      braces = [`${this.prefix(name, tag, "ArrayBuffer")}{`, "}"];
      entries = () => {
        const bytes = new Uint8Array(value).subarray(0, 50);
        const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join(" ");
        const more = value.byteLength - bytes.length;
        return [`[${this.style("Uint8Contents", "special")}]: <${hex}`
          + `${more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : ""}>`,
        `byteLength: ${this.primitive(value.byteLength)}`];
      };
    } else if (typeof value === "function") {
      base = this.functionBase(value, name);
      if (keys.length === 0) return this.style(base, "special");
      base = this.style(base, "special");
    } else if (value instanceof RegExp) {
      base = RegExp.prototype.toString.call(value);
      if (name !== "RegExp") base = `${this.prefix(name, tag, "RegExp")}${base}`;
      if (keys.length === 0 || level > this.depth) return this.style(base, "regexp");
      base = this.style(base, "regexp");
    } else if (value instanceof Date) {
      base = Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
      if (name !== "Date") base = `${this.prefix(name, tag, "Date")}${base}`;
      if (keys.length === 0) return this.style(base, "date");
      base = this.style(base, "date");
    } else if (value instanceof Error) {
      base = this.errorBase(value, name);
      keys = keys.filter((key) => !["stack", "message"].includes(key) || this.showHidden);
      if ("cause" in value && !keys.includes("cause")) keys.push("cause");
      if (Array.isArray(value.errors) && !keys.includes("errors")) keys.push("errors");
      if (keys.length === 0) return base;
    } else if (value instanceof Promise) {
      braces = [`${this.prefix(name, tag, "Promise")}{`, "}"];
      entries = () => [this.style("<pending>", "special")];
    } else if (value instanceof WeakSet || value instanceof WeakMap) {
      braces = [`${this.prefix(name, tag, "WeakSet")}{`, "}"];
      entries = () => [this.style("<items unknown>", "special")];
    } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      const kind = constructorName(Object(value.valueOf()));
      if (value instanceof String) keys = keys.filter((key) => !numbered(key) && key !== "length");
      base = `[${kind}: ${new Inspector({}).primitive(value.valueOf())}]`;
      if (keys.length === 0) return base;
    } else if (Object.prototype.toString.call(value) === "[object Arguments]") {
      braces = ["[Arguments] [", "]"];
      keys = keys.filter((key) => !numbered(key));
      isArray = true;
      entries = (next) => this.items(value, next);
    } else if (tag === "Module") {
      braces = ["[Module: null prototype] {", "}"];
    } else if (tag.endsWith(" Iterator") || tag === "Generator" || tag === "AsyncGenerator") {
      if (keys.length === 0) return `Object [${tag}] {}`;
      braces = [`Object [${tag}] {`, "}"];
    } else {
      const head = name === "Object" && tag === "" ? "" : this.prefix(name, tag, "Object");
      braces = [`${head}{`, "}"];
      if (keys.length === 0) return `${head}{}`;
    }
    if (level > this.depth) {
      const shown = this.prefix(name, tag, Array.isArray(value) ? "Array" : "Object").slice(0, -1);
      return this.style(`[${shown}]`, "special");
    }
    return this.filled(value, level, { keys, braces, base, entries, isArray });
  }

  /** Return an object with its entries and properties, on one line or several. */
  filled(value, level, { keys, braces, base, entries, isArray }) {
    this.seen.push(value);
    this.deepest = level;
    const next = level + 1;
    let output;
    try {
      output = entries === null ? [] : entries(next);
      for (const key of keys) output.push(this.property(value, next, key));
    } finally {
      this.seen.pop();
    }
    let head = base;
    if (this.circular.has(value)) {
      const mark = this.style(`<ref *${this.circular.get(value)}>`, "special");
      if (this.compact) head = base === "" ? mark : `${mark} ${base}`;
    }
    if (this.sorted) {
      const order = typeof this.sorted === "function" ? this.sorted : undefined;
      if (!isArray) output.sort(order);
    }
    return this.joined(output, head, braces, isArray, level, value);
  }

  joined(output, base, braces, isArray, level, value) {
    const count = output.length;
    const before = base === "" ? "" : `${base} `;
    const lines = isArray && count > 6 && this.compact >= 1 ? this.grouped(output, value) : output;
    if (this.compact >= 1 && this.deepest - level < this.compact && lines.length === count) {
      const start = lines.length + this.indentation + braces[0].length + base.length + 10;
      const width = lines.reduce((sum, line) => sum + bareLength(line), lines.length + start);
      if (width <= this.breakLength && !base.includes("\n")) {
        const text = lines.join(", ");
        if (!text.includes("\n")) return `${before}${braces[0]} ${text} ${braces[1]}`;
      }
    }
    const indent = `\n${" ".repeat(this.indentation)}`;
    return `${before}${braces[0]}${indent}  ${lines.join(`,${indent}  `)}${indent}${braces[1]}`;
  }

  /** Return the items of a long array in columns. */
  grouped(output, value) {
    const extra = value !== undefined && value.length > this.maxArrayLength;
    const count = output.length - (extra ? 1 : 0);
    const widths = output.slice(0, count).map(widthOf);
    const total = widths.reduce((sum, width) => sum + width + 2, 0);
    const widest = Math.max(...widths) + 2;
    const fits = widest * 3 + this.indentation < this.breakLength
      && (total / widest > 5 || widest - 2 <= 6);
    if (!fits) return output;
    const biased = Math.max(widest - 3 - Math.sqrt(widest - total / output.length), 1);
    const columns = Math.min(
      Math.round(Math.sqrt(2.5 * biased * count) / biased),
      Math.floor((this.breakLength - this.indentation) / widest),
      this.compact * 4,
      15,
    );
    if (columns <= 1) return output;
    const columnWidths = [];
    for (let column = 0; column < columns; column++) {
      let width = 0;
      for (let at = column; at < count; at += columns) width = Math.max(width, widths[at]);
      columnWidths.push(width + 2);
    }
    const right = value !== undefined && Array.prototype.every.call(value,
      (item) => typeof item === "number" || typeof item === "bigint");
    const rows = [];
    for (let start = 0; start < count; start += columns) {
      const end = Math.min(start + columns, count);
      let row = "";
      for (let at = start; at < end; at++) {
        const last = at === end - 1;
        const cell = last ? output[at] : `${output[at]}, `;
        const pad = " ".repeat(Math.max(0, columnWidths[at - start] - widths[at] - 2));
        if (right) row += pad + cell;
        else row += last ? cell : cell + pad;
      }
      rows.push(row);
    }
    if (extra) rows.push(output[count]);
    return rows;
  }

  items(value, level) {
    const output = [];
    const limit = Math.min(this.maxArrayLength, value.length);
    let at = 0;
    this.indentation += 2;
    for (; at < value.length && output.length < limit; at++) {
      if (at in value) {
        output.push(this.element(value, at, level));
        continue;
      }
      let end = at;
      while (end < value.length && !(end in value)) end++;
      const empty = end - at;
      output.push(this.style(`<${empty} empty item${empty > 1 ? "s" : ""}>`, "undefined"));
      at = end - 1;
    }
    this.indentation -= 2;
    const more = value.length - at;
    if (more > 0) output.push(`... ${more} more item${more > 1 ? "s" : ""}`);
    return output;
  }

  element(value, at, level) {
    const own = Object.getOwnPropertyDescriptor(value, at);
    if (own?.get || own?.set) return this.accessor(own);
    return this.value(value[at], level);
  }

  members(value, level) {
    const output = [];
    this.indentation += 2;
    for (const item of value) {
      if (output.length >= this.maxArrayLength) break;
      output.push(this.value(item, level));
    }
    this.indentation -= 2;
    const more = value.size - output.length;
    if (more > 0) output.push(`... ${more} more item${more > 1 ? "s" : ""}`);
    return output;
  }

  pairs(value, level) {
    const output = [];
    this.indentation += 2;
    for (const [key, item] of value) {
      if (output.length >= this.maxArrayLength) break;
      output.push(`${this.value(key, level)} => ${this.value(item, level)}`);
    }
    this.indentation -= 2;
    const more = value.size - output.length;
    if (more > 0) output.push(`... ${more} more item${more > 1 ? "s" : ""}`);
    return output;
  }

  accessor(own) {
    if (own.get && own.set) return this.style("[Getter/Setter]", "special");
    return this.style(own.get ? "[Getter]" : "[Setter]", "special");
  }

  property(value, level, key) {
    const own = Object.getOwnPropertyDescriptor(value, key)
      ?? { value: value[key], enumerable: true };
    let shown;
    if ("value" in own) {
      this.indentation += 2;
      shown = this.value(own.value, level);
      this.indentation -= 2;
    } else if (this.getters && own.get) {
      shown = `[Getter: ${this.value(own.get.call(value), level)}]`;
    } else {
      shown = this.accessor(own);
    }
    let name;
    if (typeof key === "symbol") name = `[${this.style(String(key), "symbol")}]`;
    else if (key === "__proto__") name = "['__proto__']";
    else if (own.enumerable === false) name = `[${key}]`;
    else name = isIdentifier(key) ? key : this.style(quoteString(key), "string");
    return `${name}: ${shown}`;
  }

  functionBase(value, name) {
    const source = Function.prototype.toString.call(value);
    if (/^class\b/.test(source) && source.endsWith("}")) {
      const own = Object.hasOwn(value, "name") && value.name ? value.name : "(anonymous)";
      const parent = Object.getPrototypeOf(value);
      let text = `[class ${own}`;
      if (parent?.name) text += ` extends ${parent.name}`;
      else if (parent === null) text += " extends null";
      return `${text}]`;
    }
    const kind = { AsyncFunction: "AsyncFunction", GeneratorFunction: "GeneratorFunction",
      AsyncGeneratorFunction: "AsyncGeneratorFunction" }[name] ?? "Function";
    const label = value.name ? `${kind}: ${value.name}` : `${kind} (anonymous)`;
    const foreign = name === null ? " (null prototype)" : "";
    return `[${label}${foreign}]`;
  }

  errorBase(value, name) {
    const own = Object.getOwnPropertyDescriptor(value, "stack");
    let stack = own !== undefined && "value" in own && typeof own.value === "string" ? own.value
      : typeof value.stack === "string" && value.stack ? value.stack : describeError(value);
    const kind = String(value.name ?? "Error");
    if (name !== null && kind !== name && !stack.includes(name) && stack.startsWith(kind)) {
      stack = name + stack.slice(kind.length);
    }
    const at = stack.indexOf("\n    at");
    let text = at < 0 ? `[${stack}]` : stack;
    if (this.indentation > 0) text = text.replaceAll("\n", `\n${" ".repeat(this.indentation)}`);
    return text;
  }
}

function inspect(value, options, depth, colors) {
  let chosen = options;
  if (typeof options === "boolean") chosen = { showHidden: options, depth, colors };
  return new Inspector({ ...inspect.defaultOptions, ...chosen }).value(value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = {};
inspect.colors = Object.fromEntries(Object.entries({
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24],
  inverse: [7, 27], black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39],
  blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39],
  grey: [90, 39],
}));
inspect.styles = {};

const numberText = (value) => (Object.is(value, -0) ? "-0" : `${value}`);

function formatOne(letter, value, options) {
  switch (letter) {
    case "s":
      if (typeof value === "number") return numberText(value);
      if (typeof value === "bigint") return `${value}n`;
      if (typeof value !== "object" || value === null) return String(value);
      if (value instanceof Error || value.toString !== Object.prototype.toString
        && !Array.isArray(value) && !(value instanceof Date)) {
        return String(value);
      }
      return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
    case "d":
      return typeof value === "bigint" ? `${value}n`
        : typeof value === "symbol" ? "NaN" : numberText(Number(value));
    case "i":
      return typeof value === "bigint" ? `${value}n`
        : typeof value === "symbol" ? "NaN" : numberText(Number.parseInt(value, 10));
    case "f": return typeof value === "symbol" ? "NaN" : numberText(Number.parseFloat(value));
    case "j":
      try {
        return JSON.stringify(value);
      } catch (error) {
        if (String(error.message).includes("circular")) return "[Circular]";
        throw error;
      }
    case "o": return inspect(value, { ...options, showHidden: true, depth: 4 });
    case "O": return inspect(value, options);
    default: return "";
  }
}

function formatWithOptions(options, ...values) {
  let at = 0;
  let text = "";
  let gap = "";
  if (typeof values[0] === "string") {
    if (values.length === 1) return values[0];
    at = 1;
    text = values[0].replace(/%([sdifjoOc%])/g, (whole, letter) => {
      if (letter === "%") return "%";
      return at < values.length ? formatOne(letter, values[at++], options) : whole;
    });
    gap = " ";
  }
  for (; at < values.length; at++) {
    const value = values[at];
    text += gap + (typeof value === "string" ? value : inspect(value, options));
    gap = " ";
  }
  return text;
}

const format = (...values) => formatWithOptions({}, ...values);
