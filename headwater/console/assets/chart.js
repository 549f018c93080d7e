// Charts of rows as SVG: bar, line, area, pie, and one number.

import { h, s } from "./dom.js";
import { compare, isNumber, text } from "./exact.js";
import { number } from "./format.js";

export const KINDS = ["bar", "line", "area", "pie", "number"];

/** What stands above a chart of a dashboard. */
export const named = ({ title, kind, view, x, y }) => title || (kind === "table" ? view.slice(view.indexOf(".") + 1) : kind === "number" ? y : `${y} by ${x}`);

const TYPES = /^(tinyint|smallint|int|bigint|float|double|decimal|integer|long|short|byte)/i;

/** The columns that a chart takes if nobody says: a name, and the last number. */
export function axes(columns) {
  const numbers = columns.filter((column) => TYPES.test(column.type));
  const names = columns.filter((column) => !TYPES.test(column.type));
  const y = (numbers.at(-1) ?? columns.at(-1)).name;
  const x = (names[0] ?? columns.find((column) => column.name !== y) ?? columns[0]).name;
  return { x, y, numbers: numbers.map((column) => column.name) };
}

/** A chart of rows; `x` and `y` name columns. If there are more rows than these, it says so. */
export function chart(kind, rows, { x, y }, isCut = false) {
  const drawn = drawing(kind, rows, { x, y }, isCut);
  return isCut && kind !== "number" ? [drawn, h("p", { class: "faint small" }, `Only the first ${number(rows.length)} rows are drawn; there are more.`)] : drawn;
}

function drawing(kind, rows, { x, y }, isCut) {
  const points = rows.filter((row) => isNumber(row[y]) && Number.isFinite(Number(row[y]))).map((row) => ({ name: row[x], value: Number(row[y]) }));
  if (kind === "number") return single(points, y, isCut);
  if (!points.length) return h("p", { class: "faint center" }, "There is no number to draw.");
  if (kind === "bar") return bars(points, `${y} by ${x}`);
  if (kind === "pie") return pie(points, `${y} by ${x}`);
  return line(points, kind === "area", `${y} over ${x}`);
}

/** Numbers that stand below each other have as many digits behind the point. */
function aligned(points) {
  const digits = points.every((point) => Number.isInteger(point.value)) ? 0 : 2;
  const format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (value) => format.format(value);
}

function single(points, y, isCut) {
  const total = points.reduce((sum, point) => sum + point.value, 0);
  return h("div", { class: "single" }, h("span", { class: "value" }, number(Math.round(total * 100) / 100)), h("span", { class: "soft" }, isCut ? `${y}, only the first ${number(points.length)} rows; there are more` : points.length > 1 ? `${y}, all ${number(points.length)} rows` : y));
}

function bars(points, label) {
  const shown = [...points].sort((one, other) => other.value - one.value).slice(0, 24);
  const [low, high] = [Math.min(0, ...shown.map((p) => p.value)), Math.max(0, ...shown.map((p) => p.value))];
  const digits = aligned(shown);
  const scale = (value) => (100 * (value - low)) / (high - low || 1);
  return h(
    "div",
    { class: "barlist", role: "list", "aria-label": label },
    shown.map((point) => {
      const [from, to] = [scale(Math.min(0, point.value)), scale(Math.max(0, point.value))];
      return h(
        "div",
        { class: "bar", role: "listitem", "data-key": `bar ${text(point.name)}` },
        h("span", { class: "bar-name", title: text(point.name) }, text(point.name)),
        h("span", { class: "bar-room" }, h("i", { style: { left: `${from}%`, width: `${Math.max(to - from, 0.3)}%` } })),
        h("span", { class: "bar-value" }, digits(point.value)),
      );
    }),
    points.length > shown.length ? h("p", { class: "faint small", role: "listitem" }, `and ${number(points.length - shown.length)} more`) : null,
  );
}

function pie(points, label) {
  const sorted = points.filter((point) => point.value > 0).sort((one, other) => other.value - one.value);
  const shown = sorted.slice(0, 7);
  const rest = sorted.slice(7).reduce((sum, point) => sum + point.value, 0);
  if (rest > 0) shown.push({ name: `${sorted.length - 7} others`, value: rest });
  const total = shown.reduce((sum, point) => sum + point.value, 0) || 1;
  const digits = aligned(shown);
  // A name keeps its colour while values overtake each other.
  const names = shown.map((point) => text(point.name)).sort();
  const colour = (point) => `c${names.indexOf(text(point.name)) + 1}`;
  let turn = 0;
  const slices = shown.map((point) => {
    const part = point.value / total;
    const ring = s("circle", { class: colour(point), r: 40, cx: 60, cy: 60, pathLength: 100, "stroke-dasharray": `${Math.max(part * 100 - 0.6, 0.2)} 200`, "stroke-dashoffset": -turn * 100, transform: "rotate(-90 60 60)" }, s("title", {}, `${text(point.name)}: ${number(point.value)}`));
    turn += part;
    return ring;
  });
  const legend = shown.map((point) => h("li", {}, h("i", { class: colour(point) }), h("span", {}, text(point.name)), h("b", {}, digits(point.value)), h("span", { class: "faint" }, `${Math.round((100 * point.value) / total)} %`)));
  return h("div", { class: "pie" }, s("svg", { viewBox: "0 0 120 120", role: "img", "aria-label": label }, slices), h("ul", {}, legend));
}

function line(points, isArea, label) {
  const [wide, high, left, bottom] = [760, 280, 64, 26];
  const sorted = [...points].sort((one, other) => compare(one.name, other.name));
  const ticks = nice(Math.min(...sorted.map((p) => p.value), isArea ? 0 : Infinity), Math.max(...sorted.map((p) => p.value)));
  const sizes = sorted.map((point, index) => place(point.name, index));
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  const across = (size) => left + ((size - ends[0]) / (ends[1] - ends[0] || 1)) * (wide - left - 12);
  const down = (value) => 10 + (1 - (value - ticks[0]) / (ticks.at(-1) - ticks[0])) * (high - bottom - 10);
  const at = sorted.map((point, index) => `${across(sizes[index]).toFixed(1)},${down(point.value).toFixed(1)}`);
  const named = [0, sorted.length - 1].filter((index, place, all) => all.indexOf(index) === place);
  return s(
    "svg",
    { class: "linechart", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    ticks.map((tick) => [s("line", { class: "grid", x1: left, x2: wide - 12, y1: down(tick), y2: down(tick) }), s("text", { x: left - 10, y: down(tick) + 4, "text-anchor": "end" }, number(tick))]),
    isArea ? s("polygon", { class: "fill", points: `${across(ends[0])},${down(ticks[0])} ${at.join(" ")} ${across(ends[1])},${down(ticks[0])}` }) : null,
    s("polyline", { points: at.join(" ") }),
    sorted.length <= 60 ? sorted.map((point, index) => s("circle", { cx: across(sizes[index]), cy: down(point.value), r: 3 }, s("title", {}, `${text(point.name)}: ${number(point.value)}`))) : null,
    named.map((index) => s("text", { x: across(sizes[index]), y: high - 4, "text-anchor": index === 0 ? "start" : "end" }, text(sorted[index].name).slice(0, 28))),
  );
}

/** Where a value stands from left to right: by its size if it has one, else one after the other. */
function place(value, index) {
  if (isNumber(value)) return Number(value);
  const moment = typeof value === "string" && /^\d{4}-\d\d/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(moment) ? index : moment;
}

/** Round numbers from below the smallest to above the largest. */
function nice(low, high) {
  if (!(high > low)) [low, high] = [low - 1, high + 1];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const ticks = [];
  for (let tick = Math.floor(low / step); tick <= Math.ceil(high / step); tick += 1) ticks.push(tick * step);
  return ticks;
}
