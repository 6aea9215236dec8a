// node's child_process: the sandbox runs a child to its end before the program goes on.

makers.child_process = () => {
  const EventEmitter = builtin("events");
  const { Buffer } = builtin("buffer");
  const SIGNALS = { 1: "SIGHUP", 2: "SIGINT", 6: "SIGABRT", 9: "SIGKILL", 13: "SIGPIPE",
    15: "SIGTERM" };

  const streamsOf = (options, fallback) => {
    const stdio = options.stdio ?? fallback;
    const all = Array.isArray(stdio) ? stdio : [stdio, stdio, stdio];
    const kind = (one, fd) => (one === "inherit" || one === fd || one?._isStdio ? "inherit"
      : one === "ignore" ? "null" : "data");
    return { stdin: kind(all[0], 0), stdout: kind(all[1], 1), stderr: kind(all[2], 2) };
  };

  /** Run a program; return status, signal and output, or the error of the system. */
  const run = (argv, options, fallback) => {
    const streams = streamsOf(options, fallback);
    let input;
    if (options.input !== undefined && options.input !== null) {
      input = typeof options.input === "string" ? Buffer.from(options.input)
        : new Uint8Array(options.input.buffer, options.input.byteOffset, options.input.byteLength);
    } else if (streams.stdin === "data") {
      input = new Uint8Array();
    }
    const cwd = options.cwd ? absolute(pathOf(options.cwd, "options.cwd")) : settings.cwd;
    const env = {};
    for (const [name, value] of Object.entries(options.env ?? process.env)) {
      if (value !== undefined) env[name] = String(value);
    }
    const answer = ask({ op: "run", argv: argv.map(String), cwd, env, ...streams,
      stdin: input ? "data" : streams.stdin, timeout: options.timeout ? options.timeout / 1000
        : null }, input ?? new Uint8Array());
    if (answer.errno) return { failure: answer };
    const bytes = answerBytes();
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const signal = answer.late ? "SIGTERM" : SIGNALS[answer.signal] ?? null;
    return { pid: answer.pid, status: signal ? null : answer.status, signal, late: answer.late,
      stdout: streams.stdout === "data" ? all.subarray(0, answer.out) : null,
      stderr: streams.stderr === "data" ? all.subarray(answer.out) : null };
  };

  const decoded = (bytes, options) => (bytes !== null && options.encoding
    && options.encoding !== "buffer" ? bytes.toString(options.encoding) : bytes);
  const spawnError = (failure, argv) => {
    const error = new Error(`spawnSync ${argv[0]} ${failure.code}`);
    return Object.assign(error, { errno: -failure.errno, code: failure.code,
      syscall: `spawnSync ${argv[0]}`, path: argv[0], spawnargs: argv.slice(1) });
  };
  const shellWords = (command, options) => [typeof options.shell === "string" ? options.shell
    : "/bin/sh", "-c", command];
  const wordsOf = (file, args, options) => (options.shell
    ? shellWords([file, ...args].join(" "), options) : [file, ...args]);
  const parted = (args, options) => (Array.isArray(args) ? [args, options ?? {}]
    : [[], args ?? options ?? {}]);

  const spawnSync = (file, args, options) => {
    const [words, chosen] = parted(args, options);
    const argv = wordsOf(file, words, chosen);
    const done = run(argv, chosen, "pipe");
    if (done.failure) {
      return { error: spawnError(done.failure, argv), status: null, signal: null, output: null,
        pid: 0, stdout: null, stderr: null };
    }
    const stdout = decoded(done.stdout, chosen);
    const stderr = decoded(done.stderr, chosen);
    const result = { pid: done.pid, output: [null, stdout, stderr], stdout, stderr,
      status: done.status, signal: done.signal };
    if (done.late) {
      const error = new Error(`spawnSync ${argv[0]} ETIMEDOUT`);
      result.error = Object.assign(error, { errno: -110, code: "ETIMEDOUT",
        syscall: `spawnSync ${argv[0]}`, path: argv[0], spawnargs: argv.slice(1) });
    }
    return result;
  };

  const checked = (argv, options, command) => {
    const done = run(argv, options, ["pipe", "pipe", "pipe"]);
    if (done.failure) throw spawnError(done.failure, argv);
    if (!options.stdio && done.stderr?.length) writeText(2, done.stderr);
    if (done.status === 0) return decoded(done.stdout, options);
    const words = done.stderr?.length ? `\n${done.stderr.toString()}` : "";
    const error = new Error(done.late ? `spawnSync ${argv[0]} ETIMEDOUT`
      : `Command failed: ${command}${words}`);
    if (done.late) Object.assign(error, { errno: -110, code: "ETIMEDOUT" });
    const stdout = decoded(done.stdout, options);
    const stderr = decoded(done.stderr, options);
    throw Object.assign(error, { status: done.status, signal: done.signal,
      output: [null, stdout, stderr], pid: done.pid, stdout, stderr });
  };
  const execSync = (command, options = {}) => {
    checkType(command, "command", "string");
    return checked(shellWords(command, options), options, command);
  };
  const execFileSync = (file, args, options) => {
    const [words, chosen] = parted(args, options);
    return checked(wordsOf(file, words, chosen), chosen, [file, ...words].join(" "));
  };

  const spawn = (file, args, options) => {
    const [words, chosen] = parted(args, options);
    const argv = wordsOf(file, words, chosen);
    const { Readable, Writable } = builtin("stream");
    const child = new EventEmitter();
    const streams = streamsOf(chosen, "pipe");
    const pieces = [];
    let started = false;
    const start = () => {
      if (started) return;
      started = true;
      const input = streams.stdin === "data" ? Buffer.concat(pieces) : undefined;
      const done = run(argv, { ...chosen, input }, "pipe");
      if (done.failure) {
        const error = spawnError(done.failure, argv);
        error.message = `spawn ${argv[0]} ${done.failure.code}`;
        error.syscall = `spawn ${argv[0]}`;
        child.emit("error", error);
        child.emit("close", -done.failure.errno, null);
        return;
      }
      Object.assign(child, { exitCode: done.status, signalCode: done.signal });
      for (const name of ["stdout", "stderr"]) {
        if (child[name] && done[name].length) child[name].push(done[name]);
        child[name]?.push(null);
      }
      child.emit("exit", done.status, done.signal);
      const open = [child.stdout, child.stderr].filter(Boolean);
      for (const stream of open) if (!stream.listenerCount("data")) stream.resume();
      let left = open.length;
      const over = () => {
        if (--left <= 0) child.emit("close", done.status, done.signal);
      };
      if (left === 0) setTimer(over, 0, false);
      for (const stream of open) stream.on("end", over);
    };
    Object.assign(child, {
      pid: 4243, exitCode: null, signalCode: null, killed: false, spawnfile: argv[0],
      spawnargs: argv, connected: false,
      stdin: streams.stdin !== "data" ? null : new Writable({
        write(chunk, encoding, done) { pieces.push(chunk); done(); },
        final(done) { done(); setTimer(start, 0, false); },
      }),
      stdout: streams.stdout === "data" ? new Readable({ read() {} }) : null,
      stderr: streams.stderr === "data" ? new Readable({ read() {} }) : null,
      kill() { return false; }, ref() {}, unref() {}, disconnect() {},
    });
    child.stdio = [child.stdin, child.stdout, child.stderr];
    setTimer(() => {
      child.emit("spawn");
      if (!pieces.length || !child.stdin) setTimer(start, 0, false);
    }, 0, false);
    return child;
  };

  const execFile = (file, args, options, callback) => {
    const done = [args, options, callback].find((one) => typeof one === "function");
    const words = Array.isArray(args) ? args : [];
    const chosen = [options, args].find((one) => one !== null && typeof one === "object"
      && !Array.isArray(one)) ?? {};
    return collected(file, words, chosen, done, [file, ...words].join(" "));
  };
  const exec = (command, options, callback) => {
    const done = typeof options === "function" ? options : callback;
    const chosen = typeof options === "object" && options !== null ? options : {};
    const [file, ...words] = shellWords(command, chosen);
    return collected(file, words, { ...chosen, shell: false }, done, command);
  };
  const collected = (file, words, options, callback, command) => {
    const child = spawn(file, words, options);
    const parts = { stdout: [], stderr: [] };
    for (const name of ["stdout", "stderr"]) {
      child[name]?.on("data", (chunk) => parts[name].push(Buffer.from(chunk)));
    }
    const text = (name) => decoded(Buffer.concat(parts[name]), { encoding: "utf8", ...options });
    let over = false;
    child.on("error", (error) => {
      over = true;
      callback?.(Object.assign(error, { cmd: command }), "", "");
    });
    child.on("close", (status, signal) => {
      if (over || !callback) return;
      const [stdout, stderr] = [text("stdout"), text("stderr")];
      if (status === 0) {
        callback(null, stdout, stderr);
        return;
      }
      const error = new Error(`Command failed: ${command}\n${stderr}`);
      callback(Object.assign(error, { code: status, killed: false, signal, cmd: command }),
        stdout, stderr);
    });
    return child;
  };
  for (const action of [exec, execFile]) {
    action[Symbol.for("nodejs.util.promisify.custom")] = (...words) => {
      let child;
      const promise = new Promise((resolve, reject) => {
        child = action(...words, (error, stdout, stderr) => (error
          ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr })));
      });
      promise.child = child;
      return promise;
    };
  }
  return { spawnSync, execSync, execFileSync, spawn, exec, execFile,
    fork() { throw new Error("child_process.fork is not available in the sandbox"); } };
};
