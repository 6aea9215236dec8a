// Modules of node that the sandbox cannot have: they can be loaded, and refuse by name when used.

const ABSENT = {
  "http https": ["no network", "request get createServer Agent globalAgent ClientRequest "
    + "IncomingMessage OutgoingMessage Server ServerResponse METHODS STATUS_CODES maxHeaderSize"],
  http2: ["no network", "connect createServer createSecureServer constants"],
  net: ["no network", "connect createConnection createServer Server Socket BlockList "
    + "SocketAddress isIP isIPv4 isIPv6"],
  tls: ["no network", "connect createServer createSecureContext Server TLSSocket rootCertificates"],
  dgram: ["no network", "createSocket Socket"],
  "dns dns/promises": ["no network", "lookup resolve resolve4 resolve6 reverse promises Resolver"],
  worker_threads: ["no threads", "Worker MessageChannel MessagePort BroadcastChannel"],
  cluster: ["no other processes of node", "fork setupPrimary Worker"],
  inspector: ["no debugger", "open close url Session"],
  repl: ["no dialogue", "start REPLServer"],
  wasi: ["no WebAssembly", "WASI"],
};

const isAddress = (text) => /^(\d{1,3}(\.|$)){4}$/.test(text)
  && text.split(".").every((part) => Number(part) < 256);
const PRESENT = {
  net: { isIP: (text) => (isAddress(text) ? 4 : String(text).includes(":") ? 6 : 0),
    isIPv4: isAddress, isIPv6: (text) => String(text).includes(":") },
  http: { METHODS: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"], STATUS_CODES: {} },
  http2: { constants: {} },
  tls: { rootCertificates: [] },
  worker_threads: { isMainThread: true, threadId: 0, parentPort: null, workerData: null },
  cluster: { isMaster: true, isPrimary: true, isWorker: false },
};

for (const [modules, [what, members]] of Object.entries(ABSENT)) {
  for (const name of modules.split(" ")) {
    makers[name] = () => {
      const made = {};
      for (const member of members.split(" ")) {
        made[member] = function () {
          throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
            `${name}.${member} is not available: node has ${what} in the sandbox`);
        };
        Object.defineProperty(made[member], "name", { value: member });
      }
      return Object.assign(made, PRESENT[name]);
    };
  }
}

makers.diagnostics_channel = () => {
  const channels = new Map();
  class Channel {
    constructor(name) {
      this.name = name;
      this.listeners = [];
    }
    get hasSubscribers() { return this.listeners.length > 0; }
    subscribe(listener) { this.listeners.push(listener); }
    unsubscribe(listener) { this.listeners = this.listeners.filter((one) => one !== listener); }
    publish(message) { for (const listener of this.listeners) listener(message, this.name); }
    runStores(context, action, self, ...words) { return action.apply(self, words); }
    bindStore() {}
  }
  const channel = (name) => {
    if (!channels.has(name)) channels.set(name, new Channel(name));
    return channels.get(name);
  };
  const tracingChannel = (name) => {
    const traced = {};
    for (const part of ["start", "end", "asyncStart", "asyncEnd", "error"]) {
      traced[part] = channel(`tracing:${name}:${part}`);
    }
    return Object.assign(traced, {
      hasSubscribers: false,
      traceSync: (action, context, self, ...words) => action.apply(self, words),
      tracePromise: (action, context, self, ...words) => action.apply(self, words),
      traceCallback: (action, at, context, self, ...words) => action.apply(self, words),
    });
  };
  return { channel, tracingChannel, Channel, hasSubscribers: (name) => channel(name).hasSubscribers,
    subscribe: (name, listener) => channel(name).subscribe(listener),
    unsubscribe: (name, listener) => channel(name).unsubscribe(listener) };
};
