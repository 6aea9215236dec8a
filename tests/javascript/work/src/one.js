export const a = 1;
// TODO: fix this
function b() { return 2; } // FIXME later
