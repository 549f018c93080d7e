// Two texts line by line.

/** [[" " | "-" | "+", line]] from the longest lines both have in order. */
export function diff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.length * b.length > 4_000_000) return [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i]]);
      [i, j] = [i + 1, j + 1];
    } else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) lines.push(["-", a[i++]]);
    else lines.push(["+", b[j++]]);
  }
  return lines;
}
