// stdin: {"a": [1, 2, 3]}
let data = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => { data += chunk; });
process.stdin.on("end", () => { const o = JSON.parse(data); console.log(o.a.map((x) => x ** 2)); });
