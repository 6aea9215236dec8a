console.log("before");
function fail() { throw new TypeError("it failed"); }
fail();
