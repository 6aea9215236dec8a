// require, ES modules, and the start of a program.

/** A module that is no file: the text of `-e` or of standard input. */
const text = { path: null, source: null };

const bare = (name) => name.replace(/^node:/, "");
const isBuiltin = (name) => bare(name) in makers;

function requireBuiltin(name) {
  if (isBuiltin(name)) return builtin(bare(name));
  throw codedError(Error, "ERR_UNKNOWN_BUILTIN_MODULE", `No such built-in module: ${name}`);
}

const EXTENSIONS = [".js", ".json", ".mjs", ".cjs"];
const readText = (path) => {
  const answer = ask({ op: "read", path });
  return answer.errno ? null : host.decode(answerBytes());
};
const kindOf = (path) => {
  const answer = ask({ op: "stat", path });
  if (answer.errno) return null;
  return (answer.stat.mode & 0o170000) === 0o040000 ? "folder" : "file";
};
const descriptions = new Map();

/** Return the package.json of a folder as an object, null if there is none. */
function described(folder) {
  return nearest(folder, true).found;
}

/** Return the package that a file belongs to: its folder and its package.json. */
function packageOf(path) {
  const answer = nearest(builtin("path").dirname(path), false);
  return { folder: answer.folder, found: answer.found ?? {} };
}

function nearest(folder, only) {
  const key = `${only} ${folder}`;
  if (!descriptions.has(key)) {
    const answer = ask({ op: "describe", path: folder, only });
    let found = null;
    if (answer.folder !== null) {
      try {
        found = JSON.parse(host.decode(answerBytes()));
      } catch (error) {
        throw codedError(Error, "ERR_INVALID_PACKAGE_CONFIG",
          `Invalid package config ${answer.folder}/package.json. ${error.message}`);
      }
    }
    descriptions.set(key, { folder: answer.folder, found });
  }
  return descriptions.get(key);
}

function isModule(path) {
  if (path.endsWith(".mjs")) return true;
  if (path === text.path) return true;
  if (path.endsWith(".cjs") || path.endsWith(".json")) return false;
  const { type } = packageOf(path).found;
  return type === undefined ? isWrittenAsModule(path) : type === "module";
}

const written = new Map();

/** Whether a file without a declared type can only be a module: it does not compile otherwise. */
function isWrittenAsModule(path) {
  if (!written.has(path)) {
    const source = withoutShebang(readText(path) ?? "");
    let answer = false;
    if (/^\s*(import\s*[\w*{"'$]|export\s+[\w*{])|\bawait\b|import\.meta/m.test(source)) {
      try {
        host.compile(wrapped(source), path, "script");
      } catch {
        answer = compiles(source, path);
      }
    }
    written.set(path, answer);
  }
  return written.get(path);
}

function compiles(source, path) {
  try {
    host.compile(source, path, "module");
    return true;
  } catch {
    return false;
  }
}

const WRAPPER = "(function (exports, require, module, __filename, __dirname) {";
const wrapped = (source) => `${WRAPPER}${source}\n})`;

/** Return the file that a path means; with `guess` also with an extension or as a folder. */
function findFile(path, guess) {
  const answer = ask({ op: "find", paths: guess
    ? [path, ...EXTENSIONS.map((extension) => path + extension)] : [path] });
  if (answer.real) return answer.real;
  return guess && answer.folder ? findFolder(path) : null;
}

function findFolder(path) {
  const main = described(path)?.main;
  if (main) {
    const named = builtin("path").join(path, main);
    if (named !== path) {
      const found = findFile(named, true);
      if (found) return found;
    }
  }
  return ask({ op: "find", paths: EXTENSIONS.map((extension) => `${path}/index${extension}`) }).real
    ?? null;
}

/** Choose a target of "exports" or "imports" for the conditions; null if there is none. */
function chosen(target, conditions, star = "") {
  if (typeof target === "string") return target.replaceAll("*", star);
  if (Array.isArray(target)) {
    for (const one of target) {
      const found = chosen(one, conditions, star);
      if (found) return found;
    }
    return null;
  }
  for (const [condition, one] of Object.entries(target ?? {})) {
    if (condition === "default" || conditions.includes(condition)) {
      const found = chosen(one, conditions, star);
      if (found) return found;
    }
  }
  return null;
}

function mapped(table, key, conditions) {
  if (key in table) return chosen(table[key], conditions);
  for (const pattern of Object.keys(table)) {
    const at = pattern.indexOf("*");
    if (at < 0 || !key.startsWith(pattern.slice(0, at))) continue;
    const end = pattern.slice(at + 1);
    if (key.endsWith(end) && key.length >= pattern.length - 1) {
      return chosen(table[pattern], conditions, key.slice(at, key.length - end.length));
    }
  }
  return null;
}

function findPackage(name, from, conditions, guess) {
  const path = builtin("path");
  if (name.startsWith("#")) {
    const { folder, found } = packageOf(from);
    const target = found.imports && mapped(found.imports, name, conditions);
    if (!target) return null;
    return target.startsWith(".") ? findFile(path.join(folder, target), false)
      : locate(target, from, conditions, guess);
  }
  const parts = name.split("/");
  const own = parts.slice(0, name.startsWith("@") ? 2 : 1).join("/");
  const below = `.${name.slice(own.length)}`;
  const folders = [];
  for (let folder = path.dirname(from); ; folder = path.dirname(folder)) {
    if (!folder.endsWith("/node_modules")) folders.push(path.join(folder, "node_modules"));
    if (folder === "/") break;
  }
  folders.push("/usr/local/lib/node_modules", "/usr/lib/node_modules");
  for (const folder of folders) {
    const root = `${folder}/${own}`;
    if (kindOf(root) !== "folder") continue;
    const exported = described(root)?.exports;
    if (exported !== undefined && exported !== null) {
      const table = typeof exported === "string" || Array.isArray(exported)
        || !Object.keys(exported)[0]?.startsWith(".") ? { ".": exported } : exported;
      const target = mapped(table, below, conditions);
      if (target) return findFile(path.join(root, target), false);
      throw codedError(Error, "ERR_PACKAGE_PATH_NOT_EXPORTED",
        `Package subpath '${below}' is not defined by "exports" in ${root}/package.json`);
    }
    const file = below === "." ? findFolder(root) : findFile(path.join(root, below), guess);
    if (file) return file;
  }
  return null;
}

/** Return the path of a module that is no built-in one; null if it is not there. */
function locate(name, from, conditions, guess) {
  const path = builtin("path");
  let found;
  if (/^(\.{0,2}\/|\.{1,2}$)/.test(name)) {
    const whole = path.resolve(path.dirname(from), name);
    found = name.endsWith("/") && guess ? findFolder(whole) : findFile(whole, guess);
  } else if (name.startsWith("file:")) {
    found = findFile(builtin("url").fileURLToPath(name), false);
  } else {
    found = findPackage(name, from, conditions, guess);
  }
  return found ?? null;
}

// CommonJS

const cache = Object.create(null);

class Module {
  constructor(id, parent) {
    this.id = id;
    this.path = builtin("path").dirname(id);
    this.exports = {};
    this.filename = id;
    this.loaded = false;
    this.children = [];
    this.paths = [];
    Object.defineProperty(this, "parent", { value: parent, configurable: true, writable: true,
      enumerable: false });
    parent?.children.push(this);
  }
  require(name) { return requireFrom(name, this); }
  _compile(source, filename) { runCommonJs(this, source, filename); }
}

function resolveCommonJs(name, from) {
  checkType(name, "id", "string");
  if (name === "") {
    throw codedError(TypeError, "ERR_INVALID_ARG_VALUE",
      "The argument 'id' must be a non-empty string. Received ''");
  }
  if (isBuiltin(name) || name.startsWith("node:")) return name;
  const found = locate(name, from.filename, ["node", "require"], true);
  if (found) return found;
  const error = codedError(Error, "MODULE_NOT_FOUND",
    `Cannot find module '${name}'\nRequire stack:\n- ${from.filename}`);
  delete error.stack;
  error.stack = `Error: ${error.message}`;
  Object.defineProperty(error, "stack", { enumerable: false });
  error.requireStack = [from.filename];
  throw error;
}

function requireFrom(name, from) {
  const path = resolveCommonJs(name, from);
  if (isBuiltin(path) || path.startsWith("node:")) return requireBuiltin(path);
  if (cache[path]) return cache[path].exports;
  const module = new Module(path, from);
  cache[path] = module;
  let done = false;
  try {
    loadCommonJs(module, path);
    done = true;
  } finally {
    if (!done) delete cache[path];
  }
  return module.exports;
}

function loadCommonJs(module, path) {
  const source = readText(path);
  if (source === null) throw systemError({ code: "ENOENT", errno: 2 }, "open", path);
  if (path.endsWith(".json")) {
    try {
      module.exports = JSON.parse(source.replace(/^\uFEFF/, ""));
    } catch (error) {
      error.message = `${path}: ${error.message}`;
      throw error;
    }
  } else if (isModule(path)) {
    module.exports = requireModule(path);
  } else {
    runCommonJs(module, source, path);
  }
  module.loaded = true;
}

/** Return the exports of an ES module; it must not wait for anything at its top level. */
function requireModule(path) {
  bridged.delete("required");
  bridged.set("keep", (value) => bridged.set("required", value));
  host.module(`import * as all from ${JSON.stringify(path)};`
    + 'globalThis[Symbol.for("agentsandbox.module")]("keep")(all);', "node:internal/required");
  if (!bridged.has("required")) {
    throw codedError(Error, "ERR_REQUIRE_ASYNC_MODULE",
      `require() cannot be used on an ES module with top-level await: ${path}; use import()`);
  }
  return bridged.get("required");
}

const withoutShebang = (source) => source.replace(/^\uFEFF/, "").replace(/^#!.*/, "");

function requireFunction(module) {
  const require = (name) => requireFrom(name, module);
  require.resolve = (name) => resolveCommonJs(name, module);
  require.resolve.paths = () => [];
  require.cache = cache;
  require.main = mainModule;
  require.extensions = Object.create(null);
  return require;
}

function runCommonJs(module, source, path) {
  before.set(path, WRAPPER.length);
  const action = host.script(wrapped(withoutShebang(source)), path);
  action.call(module.exports, module.exports, requireFunction(module), module, path, module.path);
}

let mainModule;

makers.module = () => Object.assign(Module, {
  Module, builtinModules: Object.keys(makers), isBuiltin,
  createRequire(from) {
    const path = String(from).startsWith("file:") ? builtin("url").fileURLToPath(from) : `${from}`;
    return requireFunction(new Module(path.endsWith("/") ? `${path}noop.js` : path));
  },
  _load: (name, parent) => requireFrom(name, parent), _cache: cache,
});

// ES modules: the engine asks where a module is and what it says.

const BRIDGE = Symbol.for("agentsandbox.module");
const bridged = new Map();
Object.defineProperty(globalThis, BRIDGE,
  { value: (name) => bridged.get(name), enumerable: false });

function resolve(base, name) {
  if (isBuiltin(name) || name.startsWith("node:")) {
    requireBuiltin(name);
    return `node:${bare(name)}`;
  }
  if (name === text.path) return name;
  const from = base.startsWith("/") ? base : `${settings.cwd}/[eval1]`;
  const found = locate(name, from, ["node", "import"], false);
  if (found) return found;
  const isPath = /^(\.{0,2}\/|file:)/.test(name);
  throw codedError(Error, "ERR_MODULE_NOT_FOUND", isPath
    ? `Cannot find module '${builtin("path").resolve(builtin("path").dirname(from), name)}' `
      + `imported from ${from}` : `Cannot find package '${name}' imported from ${from}`);
}

/** Return a module that exports what `value` has. */
function exported(name, value) {
  bridged.set(name, value);
  const names = value !== null && (typeof value === "object" || typeof value === "function")
    ? Object.keys(value).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key)
      && key !== "default") : [];
  const inner = names.map((key, at) => `const _${at} = value.${key}; export { _${at} as ${key} };`);
  return `const value = globalThis[Symbol.for("agentsandbox.module")](${JSON.stringify(name)});`
    + `export default value;${inner.join("")}`;
}
function load(name) {
  if (name.startsWith("node:")) return exported(name, requireBuiltin(name));
  const source = name === text.path ? text.source : readText(name);
  if (source === null) throw systemError({ code: "ENOENT", errno: 2 }, "open", name);
  if (name.endsWith(".json")) return exported(name, JSON.parse(source));
  if (!isModule(name)) {
    const parent = mainModule ?? new Module(name);
    return exported(name, requireFrom(name, parent));
  }
  const url = JSON.stringify(name === text.path ? `file://${name}`
    : builtin("url").pathToFileURL(name).href);
  const folder = JSON.stringify(builtin("path").dirname(name));
  bridged.set(`resolve ${name}`, (wanted) => {
    const found = resolve(name, wanted);
    return found.startsWith("node:") ? found : builtin("url").pathToFileURL(found).href;
  });
  const head = `import.meta.dirname=${folder};import.meta.filename=${JSON.stringify(name)};`
    + `import.meta.url=${url};import.meta.resolve=globalThis[Symbol.for("agentsandbox.module")](`
    + `${JSON.stringify(`resolve ${name}`)});`;
  before.set(name, head.length);
  return head + withoutShebang(source);
}

// The program

function runModule(path) {
  pendingMain = true;
  const over = () => { pendingMain = false; };
  const start = host.script(`(name) => import(name)`, path);
  start(path).then(over, (error) => {
    over();
    guarded(() => { throw error; });
  });
}

function runFile(name) {
  const path = locate(builtin("path").resolve(name), "/", ["node"], true);
  if (!path) {
    const whole = builtin("path").resolve(name);
    const error = codedError(Error, "MODULE_NOT_FOUND", `Cannot find module '${whole}'`);
    writeText(2, `node:internal/modules/cjs/loader\n  throw err;\n  ^\n\nError: ${error.message}\n`
      + `    at node:internal/main/run_main_module {\n  code: 'MODULE_NOT_FOUND',\n`
      + `  requireStack: []\n}\n\nNode.js ${process.version}\n`);
    leave(1);
  }
  process.argv[1] = path;
  if (isModule(path)) {
    runModule(path);
    return;
  }
  mainModule = new Module(".");
  Object.assign(mainModule, { filename: path, path: builtin("path").dirname(path) });
  process.mainModule = mainModule;
  cache[path] = mainModule;
  loadCommonJs(mainModule, path);
}

function runText({ source, module, print, name }) {
  const virtual = `${settings.cwd}/${module ? "[eval1]" : name}`;
  if (module) {
    Object.assign(text, { source, path: virtual });
    runModule(virtual);
    return;
  }
  mainModule = new Module(virtual);
  mainModule.id = name;
  Object.assign(globalThis, { module: mainModule, exports: mainModule.exports,
    require: requireFunction(mainModule), __filename: name, __dirname: "." });
  if (name === "[eval]") {
    for (const one of Object.keys(makers)) {
      if (/^[a-z_0-9]+$/.test(one) && (one === "crypto" || !(one in globalThis))) {
        lazy(globalThis, one, () => builtin(one));
      }
    }
  }
  const value = host.script(withoutShebang(source), name);
  if (print) writeText(1, `${typeof value === "string" ? value : inspect(value)}\n`);
}
function check(name) {
  const path = locate(builtin("path").resolve(name), "/", ["node"], true);
  const source = path && readText(path);
  if (source === null) {
    writeText(2, `node: cannot find ${name}\n`);
    leave(1);
  }
  try {
    if (isModule(path)) host.compile(withoutShebang(source), path, "module");
    else host.compile(wrapped(withoutShebang(source)), path, "script");
  } catch (error) {
    writeText(2, `${path}\n\n${describeError(error)}\n\nNode.js ${process.version}\n`);
    leave(1);
  }
}

/** Run the program that the command line names. */
function main(given) {
  const start = JSON.parse(given);
  Object.assign(settings, start);
  process.env = { ...start.env };
  process.argv = ["/usr/bin/node", ...start.argv];
  process.argv0 = "node";
  process.execArgv = start.execArgv ?? [];
  guarded(() => {
    for (const name of start.requires ?? []) {
      requireFrom(name, new Module(`${settings.cwd}/[preload]`));
    }
    if (start.check) check(start.file);
    else if (start.file !== null) runFile(start.file);
    else runText(start);
  });
  return "";
}

const names = Object.entries({ ...globals, process, global: globalThis, queueMicrotask:
  globalThis.queueMicrotask });
for (const [name, value] of names) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true,
    enumerable: name in globals });
}
lazy(globalThis, "Buffer", () => builtin("buffer").Buffer);
globalThis.fetch = () => Promise.reject(
  new TypeError("fetch failed: node has no network in the sandbox; use curl if it is allowed"));

function overflow() {
  throw new RangeError("Maximum call stack size exceeded");
}

return { main, step, ticks, rejection, resolve, load, overflow };
