export default function twice(x) { return 2 * x; }
export const base = 10;
