process.on("exit", (code) => { console.log("exiting with", code); });
setTimeout(() => console.log("never"), 1000);
process.exitCode = 4;
if (process.argv.length > 1) process.exit();
