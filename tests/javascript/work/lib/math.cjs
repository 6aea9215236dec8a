exports.add = (a, b) => a + b;
exports.name = __filename.split("/").pop();
