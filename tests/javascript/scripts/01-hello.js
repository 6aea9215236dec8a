// args: one --two=2 "three four"
console.log("hello", process.argv.slice(2), process.argv.length);
console.log(typeof require, typeof module, typeof exports, require.main === module);
console.log(__filename.split("/").pop(), __dirname.split("/").pop());
