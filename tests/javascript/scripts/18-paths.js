const path = require("path");
console.log(path.join("a", "..", "b", "./c", ""), path.resolve("/x", "y", "../z"), path.relative("/a/b/c", "/a/d"), path.normalize("/a//b/../c/."));
console.log(path.parse("/home/u/file.tar.gz"), path.format({ dir: "/t", name: "n", ext: ".e" }), path.isAbsolute("a"), path.sep, path.delimiter);
for (const p of ["/a/b.txt", "b", "/", "", "a/b/", ".hidden", "x.", "a.b.c", "..", "//a"]) console.log(JSON.stringify(p), path.dirname(p), path.basename(p), JSON.stringify(path.extname(p)), path.normalize(p));
console.log(path.basename("/a/b.html", ".html"), path.posix === path, path.join("..", "x"), path.resolve("a") === process.cwd() + "/a");
