// A pipeline drawn from left to right: what is read, what is kept, what is written.

import { s } from "./dom.js";
import { rate } from "./format.js";

const WIDE = 196;
const HIGH = 54;
const APART = 96;
const BETWEEN = 22;

export function graph({ nodes, edges }, { chosen, choose }) {
  const places = layout(nodes, edges);
  const width = Math.max(...[...places.values()].map(([x]) => x)) + WIDE + 8;
  const height = Math.max(...[...places.values()].map(([, y]) => y)) + HIGH + 8;
  return s(
    "svg",
    { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, style: { "min-width": `${Math.round(width * 0.7)}px` }, role: "group", "aria-label": "The way of a change" },
    edges.filter((one) => places.has(one.from) && places.has(one.to)).map((one) => edge(one, places)),
    nodes.map((one) => box(one, places.get(one.id), one.id === chosen, choose)),
  );
}

/** Columns by the longest way from a table; within a column near those that are read. */
function layout(nodes, edges) {
  const depth = new Map(nodes.map((one) => [one.id, 0]));
  const into = new Map(nodes.map((one) => [one.id, edges.filter((edge) => edge.to === one.id).map((edge) => edge.from)]));
  for (const one of nodes) depth.set(one.id, Math.max(0, ...into.get(one.id).map((from) => (depth.get(from) ?? -1) + 1)));
  const last = Math.max(...depth.values());
  for (const one of nodes) if (one.kind === "sink") depth.set(one.id, last);
  const columns = Array.from({ length: last + 1 }, () => []);
  for (const one of nodes) columns[depth.get(one.id)].push(one.id);
  const row = new Map();
  for (const column of columns) {
    const wanted = (id) => {
      const before = into.get(id).filter((from) => row.has(from));
      return before.length ? before.reduce((sum, from) => sum + row.get(from), 0) / before.length : Infinity;
    };
    column.sort((one, other) => wanted(one) - wanted(other) || 0);
    column.forEach((id, index) => row.set(id, index - (column.length - 1) / 2));
  }
  const lowest = Math.min(...row.values());
  return new Map(nodes.map((one) => [one.id, [4 + depth.get(one.id) * (WIDE + APART), 4 + (row.get(one.id) - lowest) * (HIGH + BETWEEN)]]));
}

function edge({ from, to, rate: speed }, places) {
  const [x1, y1] = places.get(from);
  const [x2, y2] = places.get(to);
  const [a, b] = [[x1 + WIDE, y1 + HIGH / 2], [x2, y2 + HIGH / 2]];
  const bend = Math.max(36, (b[0] - a[0]) / 2);
  const text = speed ? `${rate(speed)}/s` : "";
  const [mx, my] = [a[0] + APART / 2, a[1] + (b[1] - a[1]) * (APART / 2 / Math.max(APART, b[0] - a[0]))];
  return s(
    "g",
    { "data-key": `edge ${from} ${to}` },
    s("path", { class: speed ? "edge moving" : "edge", d: `M${a[0]},${a[1]}C${a[0] + bend},${a[1]} ${b[0] - bend},${b[1]} ${b[0]},${b[1]}` }),
    text ? [s("rect", { class: "rate-back", x: mx - text.length * 3.6, y: my - 9, width: text.length * 7.2, height: 18, rx: 4 }), s("text", { class: "rate", x: mx, y: my + 4, "text-anchor": "middle" }, text)] : null,
  );
}

function box(one, [x, y], isChosen, choose) {
  const classes = ["node", one.kind, isChosen && "chosen", one.doing && one.doing.seconds >= 3 && "late", one.stopped && "stopped"].filter(Boolean).join(" ");
  const open = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(one.id);
  };
  const said = [one.kind === "view" || one.kind === "query" ? one.kind : `${one.kind} · ${one.connector}`, one.strategies?.at(-1)].filter(Boolean).join(" · ");
  return s(
    "g",
    { class: classes, transform: `translate(${x},${y})`, tabindex: 0, role: "button", "aria-label": `${one.kind} ${one.name}`, "data-key": `node ${one.id}`, "data-node": one.id, onclick: open, onkeydown: open },
    s("title", {}, `${one.kind} ${one.name}`),
    s("rect", { class: "box", width: WIDE, height: HIGH, rx: 9 }),
    s("rect", { class: "mark", x: 11, y: 13, width: 4, height: HIGH - 26, rx: 2 }),
    s("text", { class: "title", x: 25, y: 23 }, clipped(one.name, 22)),
    s("text", { class: "kind", x: 25, y: 40 }, clipped(said, 28)),
  );
}

const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
