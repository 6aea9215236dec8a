console.log("start");
await Promise.reject(new Error("rejected"));
