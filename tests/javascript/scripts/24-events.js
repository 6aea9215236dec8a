const EventEmitter = require("events"); const { once } = require("node:events");
class Job extends EventEmitter { run() { this.emit("start", 1, 2); this.emit("end"); } }
const j = new Job(); j.on("start", (a, b) => console.log("start", a, b)); j.once("end", () => console.log("end")); j.run(); j.run();
console.log(j.listenerCount("end"), j.emit("nothing"), j.eventNames()); try { j.emit("error", new Error("bad")); } catch (e) { console.log("caught", e.message); }
once(j, "later").then(([v]) => console.log("later", v)); j.emit("later", 5); j.off("start", () => {}); j.prependListener("start", () => console.log("first")); j.emit("start"); j.removeAllListeners(); console.log(j.emit("start"));
