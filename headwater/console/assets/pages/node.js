// What a node of the graph is made of: its SQL, how it is maintained, what is stored, its last steps.

import { h } from "../dom.js";
import { bytes, number, rate, seconds } from "../format.js";
import { icon } from "../icons.js";
import { busy, failure, sentence, table } from "../parts.js";

export function node(pipeline, detail, close) {
  if (detail.problem) return h("section", { class: "panel" }, h("div", { class: "sheet" }, failure(detail.problem)));
  return h(
    "section",
    { class: "panel", "aria-label": `${detail.kind} ${detail.name}` },
    h("header", {}, h("h2", {}, detail.name), h("span", { class: "tag" }, detail.kind), h("button", { class: "button", type: "button", "aria-label": "Close", onclick: close }, icon("close"))),
    h(
      "div",
      { class: "sheet" },
      detail.stopped ? h("div", { class: "failure" }, sentence(detail.stopped)) : null,
      busy(detail.doing),
      facts(detail),
      detail.sql ? part("SQL", h("pre", {}, detail.sql.trim())) : null,
      detail.query && detail.query !== detail.sql && detail.kind === "sink" ? part("Its query", h("pre", {}, detail.query)) : null,
      detail.steps?.length ? part("Last steps", lastSteps(detail.steps)) : null,
      detail.explain ? h("details", {}, h("summary", {}, "How it is maintained"), h("pre", {}, detail.explain)) : null,
    ),
  );
}

function facts(detail) {
  const stored = detail.stored ?? [];
  const taken = stored.reduce((sum, one) => sum + one.bytes, 0);
  const rows = [
    ["Connector", detail.connector],
    ["Strategy", detail.strategies?.join(", ")],
    ["Last step", detail.seconds === undefined || detail.seconds === null ? null : seconds(detail.seconds)],
    ["Changes", detail.rate === undefined ? null : `${rate(detail.rate)}/s`],
    ["State", stored.length ? `${number(stored.reduce((sum, one) => sum + one.rows, 0))} stored changes, ${bytes(taken)}` : null],
    ["Columns", h("span", {}, detail.columns.map((one, index) => [index ? ", " : "", h("code", { title: one.type }, one.name), one.is_key ? h("span", { class: "faint" }, " key") : ""]))],
  ];
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

const part = (name, ...inside) => h("div", {}, h("h3", {}, name), inside);

function lastSteps(steps) {
  const heads = [["Strategy"], ["Changed", "number"], ["Read", "number"], ["Written", "number"], ["Took", "number"]];
  const rows = [...steps].reverse().map((one) => h("tr", { title: `${one.relation}: ${one.way}` }, h("td", {}, one.strategy), h("td", { class: "number" }, number(one.changed)), h("td", { class: "number" }, number(one.read)), h("td", { class: "number" }, number(one.written)), h("td", { class: "number" }, seconds(one.seconds))));
  return table(heads, rows);
}
