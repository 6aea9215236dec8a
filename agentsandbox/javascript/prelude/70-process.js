// process, console and timers.

const timers = [];
let timerNumber = 0;

class Timeout {
  constructor(action, delay, words, repeats) {
    this.number = ++timerNumber;
    this.delay = Math.max(1, Math.min(2147483647, Number(delay) || 1));
    this.due = performance.now() + this.delay;
    this.action = action;
    this.words = words;
    this.repeats = repeats;
    this.held = true;
    this.immediate = false;
  }
  ref() { this.held = true; return this; }
  unref() { this.held = false; return this; }
  hasRef() { return this.held; }
  refresh() { this.due = performance.now() + this.delay; return this; }
  close() { clearTimer(this); return this; }
  [Symbol.toPrimitive]() { return this.number; }
}

function setTimer(action, delay, repeats, ...words) {
  checkType(action, "callback", "function");
  const timer = new Timeout(action, delay, words, repeats);
  timers.push(timer);
  return timer;
}

function setImmediateTimer(action, ...words) {
  const timer = setTimer(action, 1, false, ...words);
  timer.immediate = true;
  timer.due = 0;
  return timer;
}

function clearTimer(timer) {
  const at = timers.findIndex((one) => one === timer || one.number === Number(timer));
  if (at >= 0) timers.splice(at, 1);
}

const globals = {
  setTimeout: (action, delay, ...words) => setTimer(action, delay, false, ...words),
  setInterval: (action, delay, ...words) => setTimer(action, delay, true, ...words),
  setImmediate: setImmediateTimer,
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
};
makers.timers = () => globals;
makers["timers/promises"] = () => {
  const wait = (delay, value) => new Promise((resolve) => {
    setTimer(() => resolve(value), delay, false);
  });
  return { setTimeout: wait, setImmediate: (value) => wait(1, value),
    scheduler: { wait, yield: () => wait(1) } };
};

/** Run the next due timer; return "more" while there is something to wait for. */
function step() {
  const held = timers.some((timer) => timer.held);
  if (!held) return finish();
  timers.sort((left, right) => left.due - right.due || left.number - right.number);
  const timer = timers[0];
  const wait = timer.due - performance.now();
  if (wait > 0) ask({ op: "sleep", seconds: wait / 1000 });
  if (timer.repeats) timer.due = performance.now() + timer.delay;
  else timers.shift();
  guarded(() => timer.action(...timer.words));
  return "more";
}

let beforeExit = false;

function finish() {
  if (!beforeExit) {
    beforeExit = true;
    guarded(() => process.emit("beforeExit", process.exitCode ?? 0));
    return "more";
  }
  leave(process.exitCode ?? (pendingMain ? 13 : 0));
  return "done";
}

let pendingMain = false;
let leaving = false;

/** End the program with a status, after the "exit" listeners. */
function leave(status) {
  if (!leaving) {
    leaving = true;
    process.exitCode = status;
    try {
      process.emit("exit", process.exitCode);
    } catch (error) {
      process.exitCode = 1;
      reportUncaught(error);
    }
  }
  host.exit(String(Number(process.exitCode) || 0));
  for (;;) ; // the guest ends at its next loop
}

/** Run what the engine calls, and end the program if it throws. */
function guarded(action) {
  try {
    return action();
  } catch (error) {
    if (process.listenerCount("uncaughtException")) {
      process.emit("uncaughtException", error, "uncaughtException");
      return undefined;
    }
    reportUncaught(error);
    return leave(1);
  }
}

/** Write what node writes about an error that nobody caught. */
function reportUncaught(error, rejected = false) {
  let text;
  if (error instanceof Error) {
    text = inspect(error);
    const place = /\(?(\/[^():\n]+):(\d+):(\d+)\)?$/m.exec(text);
    if (place && !rejected) {
      const answer = ask({ op: "read", path: place[1] });
      if (!answer.errno) {
        const line = host.decode(answerBytes()).split("\n")[Number(place[2]) - 1];
        if (line !== undefined) {
          text = `${place[1]}:${place[2]}\n${line}\n`
            + `${" ".repeat(Math.max(0, Number(place[3]) - 1))}^\n\n${text}`;
        }
      }
    }
  } else if (rejected) {
    const shown = typeof error === "string" ? error : inspect(error);
    text = "[UnhandledPromiseRejection: This error originated either by throwing inside of an async"
      + " function without a catch block, or by rejecting a promise which was not handled with "
      + `.catch(). The promise rejected with the reason "${shown}".] {\n`
      + "  code: 'ERR_UNHANDLED_REJECTION'\n}";
  } else {
    text = `Uncaught:\n${inspect(error)}\n(Use \`node --trace-uncaught ...\` to show where the `
      + "exception was thrown)";
  }
  writeText(2, `${text}\n\nNode.js ${process.version}\n`);
}

const rejections = new Map();

/** Called by the engine when a promise is rejected, and again if it is handled after all. */
function rejection(promise, reason, handled) {
  if (handled) rejections.delete(promise);
  else rejections.set(promise, reason);
  return "";
}

/** End the program if a promise was rejected and nobody handled it; `jobs` ran before. */
function checkRejections() {
  for (const [promise, reason] of rejections) {
    rejections.delete(promise);
    if (process.listenerCount("unhandledRejection")) {
      guarded(() => process.emit("unhandledRejection", reason, promise));
    } else if (process.listenerCount("uncaughtException")) {
      guarded(() => process.emit("uncaughtException", reason, "unhandledRejection"));
    } else {
      reportUncaught(reason, true);
      leave(1);
    }
  }
}

function ticks() {
  if (later.length === 0) {
    if (rejections.size === 0) return "none";
    checkRejections();
    return "more";
  }
  while (later.length) {
    const action = later.shift();
    guarded(action);
  }
  return "more";
}

function writeText(fd, text) {
  if (typeof text !== "string") ask({ op: "write_at", fd }, text);
  else if (fd === 1) host.out(text);
  else host.err(text);
}

makers.process = () => process;
const process = Object.create(Object.create(builtin("events").prototype, {
  constructor: { value: Object.defineProperty(function () {}, "name", { value: "process" }) },
}));
process.title = "node";
process.version = "v20.20.2";
process.versions = { node: "20.20.2", quickjs: "0.11.0", modules: "115" };
process.arch = "x64";
process.platform = "linux";
process.release = { name: "node", lts: "Iron" };
process.execPath = "/usr/bin/node";
process.execArgv = [];
process.exitCode = undefined;
process.features = {};
process.config = { variables: {}, target_defaults: {} };
process.pid = 4242;
process.ppid = 1;
process.argv = [];
process.env = {};
Object.assign(process, {
  cwd: () => settings.cwd,
  chdir(folder) {
    const answer = ask({ op: "realpath", path: absolute(pathOf(folder, "directory")) });
    const info = answer.errno ? answer : ask({ op: "list", path: answer.path });
    if (info.errno) throw systemError(info, "chdir", settings.cwd, folder);
    settings.cwd = answer.path;
  },
  exit(status) { return leave(status ?? process.exitCode ?? 0); },
  reallyExit(status) { return leave(status); },
  abort() { return leave(134); },
  kill(pid, signal = "SIGTERM") {
    if (pid === process.pid) return leave(signal === "SIGKILL" ? 137 : 143);
    const error = new Error("kill ESRCH");
    throw Object.assign(error, { errno: -3, code: "ESRCH", syscall: "kill" });
  },
  nextTick,
  umask: () => 0o022,
  uptime: () => performance.now() / 1000,
  getuid: () => 1000,
  getgid: () => 1000,
  geteuid: () => 1000,
  getegid: () => 1000,
  memoryUsage: () => ({ rss: 5e7, heapTotal: 2e7, heapUsed: 1e7, external: 1e6,
    arrayBuffers: 1e4 }),
  cpuUsage: () => ({ user: Math.round(performance.now() * 1000), system: 0 }),
  emitWarning(warning, options) {
    const kind = warning.name ?? options?.type
      ?? (typeof options === "string" ? options : "Warning");
    writeText(2, `(node:${process.pid}) ${kind}: ${warning.message ?? warning}\n`);
  },
  binding(name) { throw new Error(`No such module: ${name}`); },
  hasUncaughtExceptionCaptureCallback: () => false,
});
const toNanoseconds = () => BigInt(Math.round(performance.now() * 1e6));
process.hrtime = (before) => {
  const now = toNanoseconds() - (before ? BigInt(before[0]) * 1000000000n + BigInt(before[1]) : 0n);
  return [Number(now / 1000000000n), Number(now % 1000000000n)];
};
process.hrtime.bigint = toNanoseconds;

const lazy = (object, name, make) => Object.defineProperty(object, name, {
  configurable: true, enumerable: true,
  get() {
    const value = make();
    Object.defineProperty(object, name, { value, writable: true, configurable: true,
      enumerable: true });
    return value;
  },
  set(value) {
    Object.defineProperty(object, name, { value, writable: true, configurable: true,
      enumerable: true });
  },
});

const outputStream = (fd) => {
  const { Writable } = builtin("stream");
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      writeText(fd, typeof chunk === "string" && encoding && !/^utf-?8$/i.test(encoding)
        ? builtin("buffer").Buffer.from(chunk, encoding) : chunk);
      done();
    },
  });
  return Object.assign(stream,
    { fd, getColorDepth: () => 1, hasColors: () => false, _isStdio: true });
};
lazy(process, "stdout", () => outputStream(1));
lazy(process, "stderr", () => outputStream(2));
lazy(process, "stdin", () => {
  const { Readable } = builtin("stream");
  const stream = new Readable({
    read() {
      setTimer(() => {
        const answer = ask({ op: "read_at", fd: 0, size: 65536 });
        if (answer.errno) {
          stream.destroy(systemError(answer, "read"));
          return;
        }
        const bytes = answerBytes();
        stream.push(bytes.length ? builtin("buffer").Buffer.from(bytes) : null);
      }, 0, false);
    },
  });
  return Object.assign(stream, { fd: 0, isTTY: undefined, setRawMode: () => stream });
});

const makeConsole = (out, err) => {
  let indent = "";
  const counts = new Map();
  const started = new Map();
  const print = (write, values) => {
    let text = format(...values);
    if (indent) text = indent + text.replaceAll("\n", `\n${indent}`);
    write(`${text}\n`);
  };
  const elapsed = (label) => {
    const ms = performance.now() - started.get(label);
    return ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${ms.toFixed(3).replace(/\.?0+$/, "")}ms`;
  };
  const console = {
    log: (...values) => print(out, values),
    warn: (...values) => print(err, values),
    dir: (value, options) => print(out, [inspect(value, { customInspect: false, ...options })]),
    time(label = "default") { started.set(`${label}`, performance.now()); },
    timeEnd(label = "default") {
      if (!started.has(`${label}`)) return;
      print(out, [`${label}: ${elapsed(`${label}`)}`]);
      started.delete(`${label}`);
    },
    timeLog(label = "default", ...values) {
      if (started.has(`${label}`)) print(out, [`${label}: ${elapsed(`${label}`)}`, ...values]);
    },
    trace(...values) {
      const error = new Error(format(...values));
      error.name = "Trace";
      print(err, [`Trace: ${error.message}\n${error.stack.split("\n").slice(1).join("\n")}`]);
    },
    assert(holds, ...values) {
      if (holds) return;
      if (typeof values[0] === "string") values[0] = `Assertion failed: ${values[0]}`;
      else values.unshift("Assertion failed");
      print(err, values);
    },
    count(label = "default") {
      counts.set(`${label}`, (counts.get(`${label}`) ?? 0) + 1);
      print(out, [`${label}: ${counts.get(`${label}`)}`]);
    },
    countReset(label = "default") { counts.delete(`${label}`); },
    group(...values) {
      if (values.length) print(out, values);
      indent += "  ";
    },
    groupEnd() { indent = indent.slice(2); },
    table(data, columns) { print(out, [tableOf(data, columns)]); },
    clear() {},
  };
  console.info = console.debug = console.log;
  console.error = console.warn;
  console.groupCollapsed = console.group;
  console.dirxml = console.log;
  return console;
};

/** Return a table as console.table draws it; other values unchanged. */
function tableOf(data, columns) {
  if (data === null || typeof data !== "object") return data;
  const show = (value) => inspect(value, { depth: value !== null && typeof value === "object"
    && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0, maxArrayLength: 3,
  breakLength: Infinity });
  const isMap = data instanceof Map;
  const pairs = isMap ? [...data.entries()].map(([key, value], at) => [at, value, key])
    : data instanceof Set ? [...data].map((value, at) => [at, value]) : Object.entries(data);
  const first = isMap || data instanceof Set ? "(iteration index)" : "(index)";
  const names = columns ? [...columns] : [];
  let plain = false;
  for (const [, value] of pairs) {
    if (value === null || typeof value !== "object") plain = true;
    else if (!columns) {
      for (const key of Object.keys(value)) if (!names.includes(key)) names.push(key);
    }
  }
  const heads = [first, ...(isMap ? ["Key"] : []), ...names, ...(plain ? ["Values"] : [])];
  const rows = pairs.map(([index, value, key]) => {
    const isObject = value !== null && typeof value === "object";
    return [String(index), ...(isMap ? [show(key)] : []),
      ...names.map((name) => (isObject && Object.hasOwn(value, name) ? show(value[name]) : "")),
      ...(plain ? [isObject ? "" : show(value)] : [])];
  });
  const widths = heads.map((head, at) => Math.max(widthOf(head),
    ...rows.map((row) => widthOf(row[at]))) + 2);
  const line = (left, middle, right) => left
    + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const padded = (text, width) => ` ${text}${" ".repeat(width - widthOf(text) - 1)}`;
  const draw = (cells) => `│${cells.map((cell, at) => padded(cell, widths[at])).join("│")}│`;
  return [line("┌", "┬", "┐"), draw(heads), line("├", "┼", "┤"), ...rows.map(draw),
    line("└", "┴", "┘")].join("\n");
}

makers.console = () => Object.assign(globalThis.console, { Console: class Console {
  constructor(out, err) {
    const streams = out?.stdout ? out : { stdout: out, stderr: err ?? out };
    Object.assign(this, makeConsole((text) => streams.stdout.write(text),
      (text) => (streams.stderr ?? streams.stdout).write(text)));
  }
} });
globalThis.console = makeConsole((text) => writeText(1, text), (text) => writeText(2, text));
