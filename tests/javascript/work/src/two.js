const z = require("./one");
// TODO: second
