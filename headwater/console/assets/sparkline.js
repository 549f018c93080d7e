// The last values as a line the height of a word.

import { s } from "./dom.js";

const WIDE = 110;
const HIGH = 26;

export function sparkline(values, label) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (known.length < 2) return s("svg", { class: "spark", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const top = Math.max(...known) || 1;
  const step = WIDE / (known.length - 1);
  const points = known.map((value, index) => `${(index * step).toFixed(1)},${(HIGH - 3 - (value / top) * (HIGH - 6)).toFixed(1)}`);
  return s(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
    s("polygon", { points: `0,${HIGH} ${points.join(" ")} ${WIDE},${HIGH}`, class: "under" }),
    s("polyline", { points: points.join(" ") }),
  );
}
