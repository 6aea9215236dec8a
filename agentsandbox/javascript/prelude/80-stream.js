// node's stream, readline and string_decoder: enough for pipes of text and bytes.

makers.stream = () => {
  const EventEmitter = builtin("events");
  const { Buffer } = builtin("buffer");

  class Stream extends EventEmitter {
    destroyed = false;
    pipe(target, options) {
      this.on("data", (chunk) => {
        if (target.write(chunk) === false && this.pause) {
          this.pause();
          target.once("drain", () => this.resume());
        }
      });
      if (options?.end !== false && !target._isStdio) this.on("end", () => target.end());
      target.emit("pipe", this);
      return target;
    }
    destroy(error) {
      if (this.destroyed) return this;
      this.destroyed = true;
      nextTick(() => {
        if (error) this.emit("error", error);
        this.emit("close");
      });
      return this;
    }
  }

  const readable = (Base) => class Readable extends Base {
    readable = true;
    readableEnded = false;
    readableFlowing = null;

    constructor(options = {}) {
      super(options);
      this.readableObjectMode = Boolean(options.objectMode ?? options.readableObjectMode);
      this._chunks = [];
      this._ended = false;
      this._encoding = options.encoding ?? null;
      this._asking = false;
      this._scheduled = false;
      if (options.read) this._read = options.read;
      if (options.destroy) this._destroy = options.destroy;
    }
    static from(source, options) {
      const items = source[Symbol.asyncIterator]?.() ?? (typeof source === "string"
        || source instanceof Uint8Array ? [source] : source)[Symbol.iterator]();
      const stream = new Readable({ objectMode: true, ...options, read() {
        Promise.resolve(items.next()).then(({ value, done }) => {
          stream.push(done ? null : value);
        }).catch((error) => stream.destroy(error));
      } });
      return stream;
    }
    get readableLength() { return this._chunks.length; }
    get readableEncoding() { return this._encoding; }
    setEncoding(encoding) {
      this._encoding = encoding;
      this._decoder = new (builtin("string_decoder").StringDecoder)(encoding);
      return this;
    }
    push(chunk) {
      this._asking = false;
      if (chunk === null) {
        this._ended = true;
      } else {
        let item = chunk;
        if (!this.readableObjectMode) {
          if (typeof item === "string" && !this._encoding) item = Buffer.from(item);
          if (this._decoder && typeof item !== "string") item = this._decoder.write(item);
        }
        if (item.length !== 0 || this.readableObjectMode) this._chunks.push(item);
      }
      this._schedule();
      return true;
    }
    unshift(chunk) { this._chunks.unshift(chunk); }
    _schedule() {
      if (this._scheduled) return;
      this._scheduled = true;
      nextTick(() => {
        this._scheduled = false;
        this._flow();
      });
    }
    _flow() {
      if (this.destroyed) return;
      if (this.readableFlowing) {
        while (this._chunks.length && this.readableFlowing) this.emit("data", this._chunks.shift());
        if (!this.readableFlowing) return;
      } else if (this.listenerCount("readable") && (this._chunks.length || this._ended)) {
        this.emit("readable");
      }
      if (this._ended && this._chunks.length === 0) {
        if (!this.readableEnded && (this.readableFlowing || this.listenerCount("readable")
          || this._drained)) {
          this.readableEnded = true;
          this.readable = false;
          this.emit("end");
          nextTick(() => this.emit("close"));
        }
      } else if (!this._ended) {
        this._more();
      }
    }
    _more() {
      if (this._asking || this._ended || !this._read) return;
      this._asking = true;
      this._read(16384);
    }
    read(size) {
      if (this._chunks.length === 0) {
        this._more();
        return null;
      }
      if (size === undefined && !this.readableObjectMode && this._chunks.length > 1) {
        const all = this._chunks.splice(0);
        return typeof all[0] === "string" ? all.join("") : Buffer.concat(all);
      }
      const chunk = this._chunks.shift();
      if (size !== undefined && chunk.length > size) {
        this._chunks.unshift(chunk.slice(size));
        return chunk.slice(0, size);
      }
      this._drained = true;
      this._schedule();
      return chunk;
    }
    on(type, listener) {
      super.on(type, listener);
      if (type === "data" && this.readableFlowing !== false) this.resume();
      if (type === "readable") {
        this._more();
        this._schedule();
      }
      return this;
    }
    resume() {
      this.readableFlowing = true;
      this._schedule();
      return this;
    }
    pause() { this.readableFlowing = false; return this; }
    isPaused() { return this.readableFlowing === false; }
    unref() { return this; }
    ref() { return this; }
    async* [Symbol.asyncIterator]() {
      const waiting = [];
      let wake = null;
      let failure = null;
      let done = false;
      const stir = () => wake?.();
      this.on("data", (chunk) => { waiting.push(chunk); stir(); });
      this.on("end", () => { done = true; stir(); });
      this.on("close", () => { done = true; stir(); });
      this.on("error", (error) => { failure = error; stir(); });
      for (;;) {
        if (waiting.length) yield waiting.shift();
        else if (failure) throw failure;
        else if (done) return;
        else await new Promise((resolve) => { wake = resolve; });
      }
    }
  };

  const writable = (Base) => class Writable extends Base {
    writable = true;
    writableEnded = false;
    writableFinished = false;
    writableLength = 0;

    constructor(options = {}) {
      super(options);
      this._decodeStrings = options.decodeStrings ?? true;
      this.writableObjectMode = Boolean(options.objectMode ?? options.writableObjectMode);
      this._waiting = [];
      this._busy = false;
      if (options.write) this._write = options.write;
      if (options.final) this._final = options.final;
      if (options.transform) this._transform = options.transform;
      if (options.flush) this._flush = options.flush;
    }
    write(chunk, encoding, callback) {
      const done = typeof encoding === "function" ? encoding : callback;
      const form = typeof encoding === "string" ? encoding : "utf8";
      if (this.writableEnded) {
        const error = codedError(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end");
        nextTick(() => this.emit("error", error));
        return false;
      }
      if (!this.writableObjectMode && typeof chunk !== "string" && !ArrayBuffer.isView(chunk)) {
        throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
          'The "chunk" argument must be of type string or an instance of Buffer or Uint8Array.'
          + ` Received ${chunk === null || chunk === undefined ? chunk
            : typeof chunk === "object" ? `an instance of ${chunk.constructor?.name}`
              : `type ${typeof chunk} (${inspect(chunk)})`}`);
      }
      let item = chunk;
      if (typeof item === "string" && this._decodeStrings && !this.writableObjectMode) {
        item = Buffer.from(item, form);
      }
      this._waiting.push([item, form, done]);
      this._drain();
      return this._waiting.length < 16;
    }
    _drain() {
      if (this._busy) return;
      while (this._waiting.length && !this._busy) {
        const [chunk, encoding, callback] = this._waiting.shift();
        this._busy = true;
        this._write(chunk, encoding, (error) => {
          this._busy = false;
          if (error) {
            this.destroy(error);
            return;
          }
          if (callback) nextTick(callback);
          if (this._waiting.length === 0) nextTick(() => this.emit("drain"));
          else this._drain();
        });
      }
      if (this._waiting.length === 0 && !this._busy && this.writableEnded && !this._finishing) {
        this._finishing = true;
        const finish = (error) => {
          if (error) {
            this.destroy(error);
            return;
          }
          nextTick(() => {
            this.writableFinished = true;
            this.emit("finish");
            if (!this.readable) this.emit("close");
          });
        };
        if (this._final) this._final(finish);
        else finish();
      }
    }
    end(chunk, encoding, callback) {
      const done = [chunk, encoding, callback].find((one) => typeof one === "function");
      if (done) this.once("finish", done);
      if (chunk !== undefined && chunk !== null && typeof chunk !== "function") {
        this.write(chunk, typeof encoding === "string" ? encoding : undefined);
      }
      this.writableEnded = true;
      this.writable = false;
      this._drain();
      return this;
    }
    cork() {}
    uncork() {}
    setDefaultEncoding() { return this; }
  };

  const Readable = readable(Stream);
  const Writable = writable(Stream);
  class Duplex extends writable(readable(Stream)) {}
  class Transform extends Duplex {
    constructor(options = {}) {
      super(options);
      this._write = (chunk, encoding, done) => {
        this._transform(chunk, encoding, (error, value) => {
          if (value !== undefined && value !== null) this.push(value);
          done(error);
        });
      };
      this._final = (done) => {
        const end = (error, value) => {
          if (value !== undefined && value !== null) this.push(value);
          this.push(null);
          done(error);
        };
        if (this._flush) this._flush(end);
        else end();
      };
    }
    _transform(chunk, encoding, done) { done(null, chunk); }
  }
  class PassThrough extends Transform {}
  const finished = (stream, options, callback) => {
    const done = callback ?? options;
    stream.on("error", done);
    stream.on(stream.readable ? "end" : "finish", () => done());
  };
  const pipeline = (...streams) => {
    const callback = typeof streams.at(-1) === "function" ? streams.pop() : () => {};
    const options = streams.at(-1).write || streams.at(-1).read ? {} : streams.pop();
    let over = false;
    const end = (error) => {
      if (!over) callback(error);
      over = true;
    };
    streams.forEach((stream, at) => {
      stream.on("error", end);
      if (at > 0) streams[at - 1].pipe(stream, at === streams.length - 1 ? options : {});
    });
    if (options.end === false || streams.at(-1)._isStdio) streams.at(-2).on("end", () => end());
    else streams.at(-1).on("finish", () => end());
    return streams.at(-1);
  };
  const promises = {
    pipeline: (...streams) => new Promise((resolve, reject) => {
      pipeline(...streams, (error) => (error ? reject(error) : resolve()));
    }),
    finished: (stream) => new Promise((resolve, reject) => {
      finished(stream, (error) => (error ? reject(error) : resolve()));
    }),
  };
  return Object.assign(Stream,
    { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises });
};
makers["stream/promises"] = () => builtin("stream").promises;

makers.string_decoder = () => {
  class StringDecoder {
    constructor(encoding = "utf8") {
      this.encoding = encoding;
      this.rest = builtin("buffer").Buffer.alloc(0);
    }
    write(bytes) {
      const { Buffer } = builtin("buffer");
      const all = Buffer.concat([this.rest, bytes]);
      let end = all.length;
      if (/^utf-?8$/i.test(this.encoding)) {
        for (let back = 1; back <= 3 && back <= all.length; back++) {
          const byte = all[all.length - back];
          if ((byte & 0xc0) === 0x80) continue;
          const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
          if (wanted > back) end -= back;
          break;
        }
      }
      this.rest = all.subarray(end);
      return all.toString(this.encoding, 0, end);
    }
    end(bytes) {
      const text = (bytes ? this.write(bytes) : "") + this.rest.toString(this.encoding);
      this.rest = this.rest.subarray(0, 0);
      return text;
    }
  }
  return { StringDecoder };
};

makers.readline = () => {
  const EventEmitter = builtin("events");
  class Interface extends EventEmitter {
    constructor(options, output) {
      super();
      const { input, output: out, prompt = "> " } = options.input ? options
        : { input: options, output };
      Object.assign(this, { input, output: out, _prompt: prompt, _rest: "", _closed: false,
        _questions: [], _lines: [], terminal: false });
      const decoder = new (builtin("string_decoder").StringDecoder)("utf8");
      const take = (text) => {
        const parts = (this._rest + text).split(/\r\n|\n|\r(?!\n)/);
        this._rest = parts.pop();
        for (const line of parts) this._line(line);
      };
      input.on("data", (chunk) => take(typeof chunk === "string" ? chunk : decoder.write(chunk)));
      input.on("end", () => {
        take(decoder.end());
        if (this._rest !== "") this._line(this._rest);
        this._rest = "";
        this._inputEnded = true;
        this.close();
      });
      input.on("error", (error) => this.emit("error", error));
    }
    _line(line) {
      if (this._closed) return;
      const asked = this._questions.shift();
      if (asked) asked(line);
      else if (this._paused) this._lines.push(line);
      else this.emit("line", line);
    }
    question(text, options, callback) {
      this.output?.write(text);
      const waiting = this._lines.shift();
      const done = callback ?? options;
      if (waiting !== undefined) nextTick(() => done(waiting));
      else this._questions.push(done);
    }
    setPrompt(text) { this._prompt = text; }
    getPrompt() { return this._prompt; }
    prompt() { this.output?.write(this._prompt); }
    write() {}
    pause() { this.input.pause(); this.emit("pause"); return this; }
    resume() { this.input.resume(); this.emit("resume"); return this; }
    close() {
      if (this._closed) return;
      this._closed = true;
      if (!this._inputEnded) this.input.pause?.();
      this.emit("close");
    }
    async* [Symbol.asyncIterator]() {
      const lines = [];
      let wake = null;
      let done = this._closed;
      this.on("line", (line) => { lines.push(line); wake?.(); });
      this.on("close", () => { done = true; wake?.(); });
      for (;;) {
        if (lines.length) yield lines.shift();
        else if (done) return;
        else await new Promise((resolve) => { wake = resolve; });
      }
    }
  }
  const createInterface = (options, output) => new Interface(options, output);
  const noTerminal = (stream, ...rest) => {
    rest.findLast((one) => typeof one === "function")?.();
    return true;
  };
  return { Interface, createInterface, clearLine: noTerminal, cursorTo: noTerminal,
    moveCursor: noTerminal, clearScreenDown: noTerminal, emitKeypressEvents() {} };
};
makers["readline/promises"] = () => {
  const { Interface } = builtin("readline");
  class Asking extends Interface {
    question(text) { return new Promise((resolve) => { super.question(text, resolve); }); }
  }
  return { Interface: Asking, createInterface: (options, output) => new Asking(options, output) };
};
