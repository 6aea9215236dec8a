// node's events: EventEmitter.

makers.events = () => {
  function EventEmitter() {
    EventEmitter.init.call(this);
  }
  EventEmitter.init = function () {
    if (!Object.hasOwn(this, "_events")) {
      Object.defineProperty(this, "_events",
        { value: Object.create(null), writable: true, configurable: true, enumerable: false });
    }
  };
  const listenersOf = (emitter, type) => {
    if (!Object.hasOwn(emitter, "_events")) EventEmitter.init.call(emitter);
    return (emitter._events[type] ??= []);
  };
  const add = (emitter, type, listener, first) => {
    checkType(listener, "listener", "function");
    if (emitter._events?.newListener && type !== "newListener") {
      emitter.emit("newListener", type, listener.listener ?? listener);
    }
    listenersOf(emitter, type)[first ? "unshift" : "push"](listener);
    return emitter;
  };
  const wrapOnce = (emitter, type, listener) => {
    checkType(listener, "listener", "function");
    const once = function (...words) {
      emitter.removeListener(type, once);
      return listener.apply(this, words);
    };
    once.listener = listener;
    return once;
  };
  const methods = {
    on(type, listener) { return add(this, type, listener, false); },
    addListener(type, listener) { return add(this, type, listener, false); },
    prependListener(type, listener) { return add(this, type, listener, true); },
    once(type, listener) { return add(this, type, wrapOnce(this, type, listener), false); },
    prependOnceListener(type, listener) {
      return add(this, type, wrapOnce(this, type, listener), true);
    },
    removeListener(type, listener) {
      const all = listenersOf(this, type);
      const at = all.findLastIndex((one) => one === listener || one.listener === listener);
      if (at >= 0) {
        this._events[type] = all.toSpliced(at, 1);
        if (this._events.removeListener) this.emit("removeListener", type, listener);
      }
      return this;
    },
    removeAllListeners(type) {
      if (type === undefined) this._events = Object.create(null);
      else if (this._events) delete this._events[type];
      return this;
    },
    emit(type, ...words) {
      const all = listenersOf(this, type);
      if (all.length === 0) {
        if (type !== "error") return false;
        if (words[0] instanceof Error) throw words[0];
        throw codedError(Error, "ERR_UNHANDLED_ERROR",
          `Unhandled error. (${builtin("util").inspect(words[0])})`);
      }
      for (const listener of [...all]) listener.apply(this, words);
      return true;
    },
    listeners(type) { return listenersOf(this, type).map((one) => one.listener ?? one); },
    rawListeners(type) { return [...listenersOf(this, type)]; },
    listenerCount(type) { return listenersOf(this, type).length; },
    eventNames() {
      return Reflect.ownKeys(this._events ?? {}).filter((type) => this._events[type].length);
    },
    setMaxListeners() { return this; },
    getMaxListeners() { return EventEmitter.defaultMaxListeners; },
  };
  methods.off = methods.removeListener;
  for (const [name, method] of Object.entries(methods)) {
    Object.defineProperty(EventEmitter.prototype, name,
      { value: method, writable: true, configurable: true, enumerable: false });
  }
  EventEmitter.defaultMaxListeners = 10;
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.once = (emitter, type) => new Promise((resolve, reject) => {
    const failed = (error) => {
      emitter.removeListener(type, done);
      reject(error);
    };
    const done = (...words) => {
      emitter.removeListener("error", failed);
      resolve(words);
    };
    emitter.once(type, done);
    if (type !== "error") emitter.once("error", failed);
  });
  return EventEmitter;
};
