// node's fs: synchronous functions, the same with callbacks, and fs.promises.

const pathOf = (name, label = "path") => {
  if (name instanceof URL) return builtin("url").fileURLToPath(name);
  if (builtin("buffer").Buffer.isBuffer(name)) return name.toString();
  if (typeof name !== "string") {
    try {
      checkType(name, label, "string");
    } catch (error) {
      throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
        error.message.replace("type string.", "type string or an instance of Buffer or URL."));
    }
  }
  if (name.includes("\0")) {
    throw codedError(TypeError, "ERR_INVALID_ARG_VALUE",
      `The argument '${label}' must be a string, Uint8Array, or URL without null bytes. `
      + `Received ${inspect(name)}`);
  }
  return name;
};

const absolute = (name) => (name.startsWith("/") ? name : `${settings.cwd}/${name}`);

makers.fs = () => {
  const { Buffer } = builtin("buffer");
  const KINDS = {
    isFile: 0o100000, isDirectory: 0o040000, isSymbolicLink: 0o120000, isFIFO: 0o010000,
    isSocket: 0o140000, isCharacterDevice: 0o020000, isBlockDevice: 0o060000,
  };
  const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);
  const modeOf = (mode) => (typeof mode === "string" ? Number.parseInt(mode, 8) : mode);

  /** Ask for an operation on a path, or throw what node throws. */
  const call = (syscall, path, question, payload, dest) => {
    const answer = ask({ ...question, path: absolute(path) }, payload);
    if (answer.errno) throw systemError(answer, syscall, path, dest);
    return answer;
  };
  const callOpen = (syscall, question, payload) => {
    const answer = ask(question, payload);
    if (answer.errno) throw systemError(answer, syscall);
    return answer;
  };

  class Stats {
    constructor(found) {
      Object.assign(this, {
        dev: 1, mode: found.mode, nlink: found.nlink, uid: found.uid, gid: found.gid, rdev: 0,
        blksize: 4096, ino: found.ino, size: found.size, blocks: Math.ceil(found.size / 512),
        atimeMs: found.atime * 1000, mtimeMs: found.mtime * 1000, ctimeMs: found.ctime * 1000,
        birthtimeMs: found.ctime * 1000,
      });
      for (const name of ["atime", "mtime", "ctime", "birthtime"]) {
        this[name] = new Date(Math.round(this[`${name}Ms`]));
      }
    }
  }
  class Dirent {
    constructor(name, parentPath, mode) {
      this.name = name;
      this.parentPath = parentPath;
      this.path = parentPath;
      this[modeKey] = mode;
    }
  }
  const modeKey = Symbol("type");
  for (const [name, kind] of Object.entries(KINDS)) {
    const has = (mode) => (mode & 0o170000) === kind;
    const methods = { Stats: function () { return has(this.mode); },
      Dirent: function () { return has(this[modeKey]); } };
    for (const [of, Class] of [["Stats", Stats], ["Dirent", Dirent]]) {
      Object.defineProperty(methods[of], "name", { value: name });
      Object.defineProperty(Class.prototype, name, { value: methods[of], enumerable: false,
        writable: true, configurable: true });
    }
  }

  const toBytes = (data, encoding) => {
    if (typeof data === "string") return Buffer.from(data, encoding ?? "utf8");
    if (ArrayBuffer.isView(data)) {
      return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }
    throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
      'The "data" argument must be of type string or an instance of Buffer, TypedArray, or '
      + `DataView. Received ${data === null || data === undefined ? data
        : typeof data === "object" ? `an instance of ${data.constructor?.name}`
          : `type ${typeof data} (${inspect(data)})`}`);
  };
  const bytesOf = (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength);

  const sync = {
    readFile(path, options) {
      let bytes;
      if (typeof path === "number") {
        callOpen("read", path === 0 ? { op: "stdin" } : { op: "read_at", fd: path, size: 2 ** 40 });
        bytes = bytesOf(answerBytes());
      } else {
        const name = pathOf(path);
        const standard = name === "/dev/stdin" || name === "/proc/self/fd/0";
        if (standard) callOpen("read", { op: "stdin" });
        else {
          const answer = ask({ op: "read", path: absolute(name) });
          if (answer.code === "EISDIR") throw systemError(answer, "read");
          if (answer.errno) throw systemError(answer, "open", name);
        }
        bytes = bytesOf(answerBytes());
      }
      const encoding = encodingOf(options);
      return encoding && encoding !== "buffer" ? bytes.toString(encoding) : bytes;
    },
    writeFile(path, data, options) {
      const bytes = toBytes(data, encodingOf(options));
      if (typeof path === "number") {
        callOpen("write", { op: "write_at", fd: path }, bytes);
        return;
      }
      const name = pathOf(path);
      if (name === "/dev/stdout" || name === "/dev/stderr") {
        callOpen("write", { op: "write_at", fd: name === "/dev/stdout" ? 1 : 2 }, bytes);
        return;
      }
      const flag = options?.flag ?? "w";
      call("open", name, { op: "write", flag: flag.includes("x") ? "x" : flag,
        mode: modeOf(options?.mode) }, bytes);
    },
    appendFile(path, data, options) {
      const extra = typeof options === "string" ? { encoding: options } : options;
      sync.writeFile(path, data, { ...extra, flag: "a" });
    },
    exists(path) {
      try {
        return !ask({ op: "access", path: absolute(pathOf(path)) }).errno;
      } catch {
        return false;
      }
    },
    access(path, bits = 0) { call("access", pathOf(path), { op: "access", bits }); },
    stat(path, options) { return statOf("stat", path, true, options); },
    lstat(path, options) { return statOf("lstat", path, false, options); },
    fstat(fd) { return new Stats(callOpen("fstat", { op: "fstat", fd }).stat); },
    readdir(path, options) {
      const name = pathOf(path);
      const typed = Boolean(options?.withFileTypes);
      const found = [];
      const visit = (folder, below) => {
        const answer = call("scandir", folder, { op: "list", kinds: typed || options?.recursive });
        answer.names.forEach((entry, at) => {
          const shown = below === "" ? entry : `${below}/${entry}`;
          found.push(typed ? new Dirent(entry, folder, answer.modes[at]) : shown);
          if (options?.recursive && (answer.modes[at] & 0o170000) === 0o040000) {
            waiting.push([`${folder.replace(/\/$/, "")}/${entry}`, shown]);
          }
        });
      };
      const waiting = [[name, ""]];
      while (waiting.length) visit(...waiting.shift());
      return found;
    },
    mkdir(path, options) {
      const name = pathOf(path);
      const recursive = Boolean(options?.recursive);
      const mode = modeOf(typeof options === "object" ? options?.mode : options);
      const answer = call("mkdir", name, { op: "mkdir", recursive, mode });
      return recursive ? answer.first ?? undefined : undefined;
    },
    mkdtemp(prefix) {
      const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
      const name = prefix + Array.from({ length: 6 },
        () => letters[Math.floor(Math.random() * letters.length)]).join("");
      call("mkdtemp", name, { op: "mkdir", mode: 0o700 });
      return name;
    },
    rm(path, options) {
      const name = pathOf(path);
      const answer = ask({ op: "remove", path: absolute(name), recursive: options?.recursive,
        force: options?.force });
      if (answer.code === "EISDIR") {
        const error = codedError(Error, "ERR_FS_EISDIR",
          `Path is a directory: rm returned EISDIR (is a directory) ${name}`);
        error.name = "SystemError";
        throw error;
      }
      if (answer.errno) throw systemError(answer, answer.code === "ENOENT" ? "lstat" : "rm", name);
    },
    rmdir(path, options) {
      const name = pathOf(path);
      if (options?.recursive) sync.rm(name, { recursive: true });
      else call("rmdir", name, { op: "rmdir" });
    },
    unlink(path) { call("unlink", pathOf(path), { op: "unlink" }); },
    rename(from, to) {
      const [left, right] = [pathOf(from, "oldPath"), pathOf(to, "newPath")];
      call("rename", left, { op: "rename", to: absolute(right) }, undefined, right);
    },
    copyFile(from, to, mode = 0) {
      const [left, right] = [pathOf(from, "src"), pathOf(to, "dest")];
      const answer = ask({ op: "read", path: absolute(left) });
      if (answer.errno) throw systemError(answer, "copyfile", left, right);
      const bytes = answerBytes();
      const written = ask({ op: "write", path: absolute(right), flag: mode & 1 ? "x" : "w",
        mode: sync.stat(left).mode & 0o777 }, bytes);
      if (written.errno) throw systemError(written, "copyfile", left, right);
    },
    cp(from, to, options) {
      const [left, right] = [pathOf(from, "src"), pathOf(to, "dest")];
      if (options?.filter && !options.filter(left, right)) return;
      const info = options?.dereference ? sync.stat(left) : sync.lstat(left);
      if (info.isSymbolicLink()) {
        sync.symlink(sync.readlink(left), right);
      } else if (!info.isDirectory()) {
        if (options?.force === false && sync.exists(right)) return;
        sync.mkdir(builtin("path").dirname(right), { recursive: true });
        sync.copyFile(left, right);
      } else {
        if (!options?.recursive) {
          throw codedError(Error, "ERR_FS_EISDIR",
            `Recursive option not enabled, cannot copy a directory: ${left}`);
        }
        sync.mkdir(right, { recursive: true });
        for (const name of sync.readdir(left)) {
          sync.cp(`${left}/${name}`, `${right}/${name}`, options);
        }
      }
    },
    symlink(target, path) {
      call("symlink", pathOf(path), { op: "symlink", text: pathOf(target) });
    },
    link(from, to) {
      call("link", pathOf(from), { op: "link", to: absolute(pathOf(to)) }, undefined, to);
    },
    readlink(path) { return call("readlink", pathOf(path), { op: "readlink" }).path; },
    realpath(path) { return call("realpath", pathOf(path), { op: "realpath" }).path; },
    chmod(path, mode) { call("chmod", pathOf(path), { op: "chmod", mode: modeOf(mode) }); },
    utimes(path, atime, mtime) {
      const seconds = (time) => (time instanceof Date ? time.getTime() / 1000 : Number(time));
      call("utime", pathOf(path), { op: "utimes", atime: seconds(atime), mtime: seconds(mtime) });
    },
    truncate(path, size = 0) { call("open", pathOf(path), { op: "truncate", size }); },
    ftruncate(fd, size = 0) { callOpen("ftruncate", { op: "truncate", fd, size }); },
    open(path, flag = "r", mode = 0o666) {
      const question = { op: "open", flag: flagName(flag), mode: modeOf(mode) };
      return call("open", pathOf(path), question).fd;
    },
    close(fd) { if (fd > 2) callOpen("close", { op: "close", fd }); },
    read(fd, buffer, offset, length, position) {
      if (typeof offset === "object" && offset !== null) {
        const { offset: at = 0, length: size = buffer.byteLength - at, position: from } = offset;
        return sync.read(fd, buffer, at, size, from);
      }
      const at = offset ?? 0;
      callOpen("read", { op: "read_at", fd, size: length ?? buffer.byteLength - at,
        position: typeof position === "bigint" ? Number(position) : position ?? null });
      const bytes = answerBytes();
      new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(bytes, at);
      return bytes.length;
    },
    write(fd, data, ...rest) {
      let bytes;
      let position = null;
      if (typeof data === "string") {
        position = typeof rest[0] === "number" ? rest[0] : null;
        bytes = Buffer.from(data, rest[1]);
      } else {
        const [offset = 0, length = data.byteLength - offset, from = null] = rest;
        bytes = new Uint8Array(data.buffer, data.byteOffset + offset, length);
        position = from;
      }
      callOpen("write", { op: "write_at", fd, position }, bytes);
      return bytes.length;
    },
    fsync() {},
    fdatasync() {},
    opendir(path) {
      const entries = sync.readdir(path, { withFileTypes: true });
      return { path, readSync: () => entries.shift() ?? null, closeSync() {}, async close() {},
        async read() { return entries.shift() ?? null; },
        async* [Symbol.asyncIterator]() { yield* entries; } };
    },
  };
  const FLAGS = { 0: "r", 1: "r+", 2: "r+", 577: "w", 578: "w+", 1089: "a", 193: "wx" };
  const flagName = (flag) => (typeof flag === "number" ? FLAGS[flag] ?? "r" : flag ?? "r");

  function statOf(syscall, path, follow, options) {
    const name = pathOf(path);
    const answer = ask({ op: "stat", path: absolute(name), follow });
    if (answer.errno) {
      if (answer.code === "ENOENT" && options?.throwIfNoEntry === false) return undefined;
      throw systemError(answer, syscall, name);
    }
    return new Stats(answer.stat);
  }

  const fs = { Stats, Dirent, F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 };
  fs.constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1,
    O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000,
    S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 };
  const promises = { constants: fs.constants };
  for (const [name, action] of Object.entries(sync)) {
    fs[`${name}Sync`] = action;
    Object.defineProperty(fs[`${name}Sync`], "name", { value: `${name}Sync` });
    fs[name] = withCallback(action, name);
    promises[name] = async (...words) => action(...words);
  }
  fs.realpathSync.native = fs.realpathSync;
  fs.exists = (path, callback) => setTimer(() => callback(sync.exists(path)), 0, false);
  delete promises.exists;
  fs.read = (fd, buffer, ...rest) => {
    const callback = rest.pop();
    const count = sync.read(fd, buffer, ...rest);
    setTimer(() => callback(null, count, buffer), 0, false);
  };
  promises.open = async (path, flag, mode) => {
    const fd = sync.open(path, flag, mode);
    return {
      fd,
      async close() { sync.close(fd); },
      async readFile(options) { return sync.readFile(fd, options); },
      async writeFile(data, options) { sync.writeFile(fd, data, options); },
      async appendFile(data, options) { sync.writeFile(fd, data, options); },
      async stat() { return sync.fstat(fd); },
      async truncate(size) { sync.ftruncate(fd, size); },
      async read(buffer, ...rest) {
        return { bytesRead: sync.read(fd, buffer, ...rest), buffer };
      },
      async write(data, ...rest) {
        return { bytesWritten: sync.write(fd, data, ...rest), buffer: data };
      },
      async* readLines() { yield* linesOf(sync.readFile(fd, "utf8")); },
    };
  };
  fs.promises = promises;
  fs.createReadStream = (path, options) => {
    const { Readable } = builtin("stream");
    const encoding = encodingOf(options);
    const stream = new Readable({ read() {} });
    stream.path = path;
    setTimer(() => {
      try {
        const bytes = sync.readFile(path);
        const part = bytes.subarray(options?.start ?? 0, (options?.end ?? Infinity) + 1);
        stream.emit("open", 3);
        for (let at = 0; at < part.length; at += 65536) stream.push(part.subarray(at, at + 65536));
        stream.push(null);
      } catch (error) {
        stream.destroy(error);
      }
    }, 0, false);
    if (encoding) stream.setEncoding(encoding);
    return stream;
  };
  fs.createWriteStream = (path, options) => {
    const { Writable } = builtin("stream");
    let fd = null;
    const stream = new Writable({
      write(chunk, encoding, done) {
        try {
          sync.write(openFile(), typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
        } catch (error) {
          done(error);
          return;
        }
        stream.bytesWritten += chunk.length;
        done();
      },
      final(done) {
        try {
          sync.close(openFile());
        } catch (error) {
          done(error);
          return;
        }
        done();
      },
    });
    const openFile = () => (fd ??= options?.fd
      ?? sync.open(path, options?.flags ?? "w", options?.mode));
    stream.path = path;
    stream.bytesWritten = 0;
    setTimer(() => {
      try {
        stream.emit("open", openFile());
        stream.emit("ready");
      } catch (error) {
        stream.destroy(error);
      }
    }, 0, false);
    return stream;
  };
  for (const name of ["watch", "watchFile"]) {
    fs[name] = () => { throw new Error(`fs.${name} is not available in the sandbox`); };
  }
  return fs;
};
makers["fs/promises"] = () => builtin("fs").promises;

/** The lines of a text, without their ends. */
function linesOf(text) {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
