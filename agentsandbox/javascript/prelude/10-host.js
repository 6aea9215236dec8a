// The host functions, and what every built-in module needs: errors of the system, conversions.

const host = globalThis.__host;
delete globalThis.__host;

const { parse: parseJson, stringify: toJson } = JSON;

const settings = { argv: [], env: {}, cwd: "/", columns: 80 };

/** Ask the sandbox; return the header of the answer, with the bytes as `data` where there are. */
function ask(question, payload) {
  return parseJson(payload === undefined ? host.ask(toJson(question))
    : host.ask(toJson(question), payload));
}

const answerBytes = () => host.answer();

const SYSTEM_WORDS = {
  E2BIG: "argument list too long", EACCES: "permission denied", EBADF: "bad file descriptor",
  EBUSY: "resource busy or locked", EEXIST: "file already exists", EFBIG: "file too large",
  EINVAL: "invalid argument", EIO: "i/o error", EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered", EMFILE: "too many open files",
  ENAMETOOLONG: "name too long", ENOENT: "no such file or directory",
  ENOSPC: "no space left on device", ENOTDIR: "not a directory", ENOTEMPTY: "directory not empty",
  ENXIO: "no such device or address", EPERM: "operation not permitted", EPIPE: "broken pipe",
  EROFS: "read-only file system", ESPIPE: "invalid seek", EXDEV: "cross-device link not permitted",
};

/** Return the error that node throws for a failed system call. */
function systemError(answer, syscall, path, dest) {
  const words = SYSTEM_WORDS[answer.code] ?? "unknown error";
  let message = `${answer.code}: ${words}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  const error = new Error(message);
  error.errno = -answer.errno;
  error.code = answer.code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
}

/** Return an error with a code of node's, like ERR_INVALID_ARG_TYPE. */
function codedError(Kind, code, message) {
  const error = new Kind(message);
  error.code = code;
  const stack = error.stack;
  if (typeof stack === "string") {
    const head = `${error.name}: `;
    Object.defineProperty(error, "stack", {
      value: stack.startsWith(head) ? `${error.name} [${code}]: ${stack.slice(head.length)}`
        : stack,
      configurable: true, writable: true, enumerable: false,
    });
  }
  return error;
}

function checkType(value, name, ...types) {
  if (types.includes(typeof value)) return;
  const shown = value === null || value === undefined ? String(value)
    : typeof value === "function" ? `function ${value.name}`
      : typeof value === "object" ? `an instance of ${value.constructor?.name ?? "Object"}`
        : `type ${typeof value} (${typeof value === "string" ? `'${value}'` : String(value)})`;
  const wanted = types.length > 1
    ? `one of type ${types.slice(0, -1).join(", ")} or ${types.at(-1)}`
    : `of type ${types[0]}`;
  throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
    `The "${name}" argument must be ${wanted}. Received ${shown}`);
}

/** The built-in modules by name: each function makes the module when it is first required. */
const makers = Object.create(null);
const made = Object.create(null);

function builtin(name) {
  if (!(name in made)) made[name] = makers[name]();
  return made[name];
}

const later = [];

/** Run `action` before the next promise job, as process.nextTick. */
function nextTick(action, ...words) {
  checkType(action, "callback", "function");
  later.push(() => action(...words));
}

/** Return a function with a callback for one that returns or throws. */
function withCallback(action, name) {
  const called = function (...words) {
    const callback = words.pop();
    checkType(callback, "cb", "function");
    let value;
    try {
      value = action(...words);
    } catch (error) {
      setTimer(() => callback(error), 0, false);
      return;
    }
    setTimer(() => callback(null, value), 0, false);
  };
  Object.defineProperty(called, "name", { value: name ?? action.name });
  return called;
}

// Stacks look like V8's: "Error: message", then one line for each frame.
Error.stackTraceLimit = 10;

function describeError(error) {
  let name;
  let message;
  try {
    name = error.name === undefined ? "Error" : String(error.name);
    message = error.message === undefined ? "" : String(error.message);
  } catch {
    return "Error";
  }
  return message === "" ? name : name === "" ? message : `${name}: ${message}`;
}

/** What stands before a program on its first line, by file: columns do not count it. */
const before = new Map();

function formatFrame(site) {
  const file = site.getFileName() ?? "<anonymous>";
  const name = site.getFunctionName();
  const line = site.getLineNumber() ?? 1;
  const column = (site.getColumnNumber() ?? 1) - (line === 1 ? before.get(file) ?? 0 : 0);
  const place = `${file}:${line}:${Math.max(1, column)}`;
  if (file === "native") return `    at ${name} (<anonymous>)`;
  return name && name !== "<eval>" && name !== "<anonymous>" ? `    at ${name} (${place})`
    : `    at ${place}`;
}

const WORDINGS = [
  [/^'(.*)' is read-only$/, () => "Assignment to constant variable."],
  [/^cannot (read|set) property '(.*)' of (null|undefined)$/,
    (_, verb, name, what) => `Cannot ${verb} properties of ${what} (${verb}ting '${name}')`
      .replace("readting", "reading")],
];

/** Word an error of the engine as V8 does, where that can be known. */
function reword(error) {
  for (const [pattern, words] of WORDINGS) {
    const found = pattern.exec(error.message);
    if (found) error.message = words(...found);
  }
}

/** Whether a frame belongs to the prelude, or to the way from it to a program. */
const isOurs = (site) => site.getFileName() === "node:internal"
  || (site.isNative?.() || site.getFileName() === null || site.getFileName() === "native")
    && ["script", "call", "apply", "module"].includes(site.getFunctionName());

Error.prepareStackTrace = (error, sites) => {
  if (error instanceof TypeError && typeof error.message === "string") reword(error);
  const frames = sites.filter((site) => !isOurs(site)).map(formatFrame);
  return [describeError(error), ...frames].join("\n");
};
