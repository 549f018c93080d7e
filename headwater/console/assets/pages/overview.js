// Every pipeline at a glance, problems first.

import { get, path } from "../api.js";
import { h, patch } from "../dom.js";
import { bytes, number, plural, rate, seconds } from "../format.js";
import { busy, empty, failure, filterOf, lagOf, sentence, state, table, truth } from "../parts.js";
import { sparkline } from "../sparkline.js";

export const title = () => "Overview";

export function show(place, { life, go }) {
  let [seen, filter] = [null, ""];
  const set = (said) => {
    filter = said;
    draw(place, seen, { filter, set, go });
  };
  return life.every(1000, async () => {
    const [listed, resources] = await Promise.all([get("/pipelines", life.signal), get("/resources", life.signal).catch(() => null)]);
    seen = { pipelines: listed.pipelines, resources };
    draw(place, seen, { filter, set, go });
  });
}

function draw(place, { pipelines, resources }, { filter, set, go }) {
  const sorted = pipelines.filter((one) => one.name.toLowerCase().includes(filter)).sort((one, other) => trouble(one) - trouble(other) || one.name.localeCompare(other.name));
  patch(
    place,
    h(
      "div",
      { class: "page" },
      h("header", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Overview"), h("p", { class: "soft" }, said(pipelines))), pipelines.some((one) => one.status === "RUNNING") ? h("div", { class: "actions" }, h("a", { class: "button", href: "/spark", target: "_blank", rel: "noopener", "data-outside": true }, "Spark’s own pages")) : null),
      tiles(pipelines, resources),
      h("section", { class: "panel", "aria-label": "Pipelines" }, filterOf(pipelines, "pipelines", set), sorted.length ? listing(sorted, go) : pipelines.length ? empty("No pipeline matches") : nothing()),
    ),
  );
}

/** Problems first: what failed, what stopped, what is late. */
function trouble(one) {
  if (one.status === "FAILED") return 0;
  if (Object.keys(one.stopped).length) return 1;
  if (one.doing && one.doing.seconds >= 3) return 2;
  return one.status === "RUNNING" ? 3 : one.status === "INITIALIZING" ? 4 : 5;
}

function said(pipelines) {
  const bad = pipelines.filter((one) => trouble(one) < 3).length;
  if (!pipelines.length) return "Nothing was deployed yet.";
  if (bad) return `${plural(bad, "pipeline needs", "pipelines need")} attention.`;
  const running = pipelines.filter((one) => one.status === "RUNNING").length;
  return running ? "Every result is true at the moment beside it." : "Nothing runs now.";
}

function tiles(pipelines, resources) {
  const running = pipelines.filter((one) => one.status === "RUNNING");
  const speed = running.reduce((sum, one) => sum + one.rows_per_second, 0);
  const lags = running.filter(moved).map(lagOf).filter((lag) => lag !== null);
  return h(
    "section",
    { class: "tiles", "aria-label": "Totals" },
    tile("Running", h("span", {}, number(running.length), h("small", {}, ` of ${number(pipelines.length)}`))),
    tile("Changes a second", rate(speed), "over the last 30 s"),
    tile("Largest lag", lags.length ? seconds(Math.max(...lags)) : "–", "in the last minute"),
    ...(resources ? measured(resources) : []),
  );
}

/** True if it works, or did lately: the lag of a batch of long ago says nothing of now. */
const moved = (one) => one.doing !== null || Date.parse(one.now) - Date.parse(one.last_batch_at ?? 0) < 60_000;

function measured(resources) {
  const { cores, memory_bytes: memory } = resources;
  if (!cores.total) return [];
  return [
    tile("Busy cores", h("span", {}, number(cores.used), h("small", {}, ` of ${number(cores.total)}`)), null, cores.used / cores.total),
    tile("Spark's memory", h("span", {}, bytes(memory.used), h("small", {}, ` of ${bytes(memory.total)}`)), null, memory.used / memory.total),
  ];
}

function tile(what, value, more, part) {
  return h(
    "div",
    { class: "panel tile" },
    h("span", { class: "what" }, what),
    h("span", { class: "value" }, value),
    part === undefined ? null : h("div", { class: "meter" }, h("i", { style: { width: `${Math.min(100, Math.round(part * 100))}%` } })),
    more ? h("span", { class: "more" }, more) : null,
  );
}

function listing(pipelines, go) {
  const heads = [["Pipeline"], ["State"], ["True at"], ["Lag", "number"], ["Changes/s", "number"], ["Step", "number"]];
  return table(heads, pipelines.map((one) => [line(one, go), problems(one)]), { class: "folds" });
}

function line(one, go) {
  const address = "/console" + path("pipelines", one.name);
  const open = (event) => {
    if (!event.target.closest("a")) go(address);
  };
  const parts = one.parts ? `${plural(one.parts.tables, "table")} → ${plural(one.parts.views, "view")} → ${plural(one.parts.sinks, "sink")}` : `version ${one.version}`;
  return h(
    "tr",
    { class: "opens", "data-key": one.name, onclick: open },
    h("td", {}, h("div", {}, h("a", { href: address, class: "name" }, one.name), h("div", { class: "faint small" }, parts))),
    h("td", { "data-name": "State" }, state(one.status)),
    h("td", { class: one.cut ? null : "nothing", "data-name": "True at" }, truth(one, Date.parse(one.now))),
    h("td", { class: one.lag === null ? "number nothing" : "number", "data-name": "Lag" }, h("span", {}, seconds(lagOf(one)), one.lag_bytes === null ? null : h("span", { class: "faint small below", title: "of the source's log, written and not yet durably read" }, bytes(one.lag_bytes)))),
    h("td", { class: one.series.length ? null : "nothing", "data-name": "Changes/s" }, h("div", { class: "with-spark" }, sparkline(one.series.map((point) => point.rows), "rows of the last batches"), h("b", {}, rate(one.rows_per_second)))),
    h("td", { class: one.step_seconds === null ? "nothing" : null, "data-name": "Step" }, h("div", { class: "with-spark" }, sparkline(one.series.map((point) => point.seconds), "seconds of the last steps"), h("b", {}, seconds(one.step_seconds)))),
  );
}

function problems(one) {
  const stopped = Object.values(one.stopped).map((message) => h("div", { class: "failure" }, sentence(message)));
  const found = [one.status === "FAILED" && one.error ? failure(one.error) : null, ...stopped, busy(one.doing)].filter(Boolean);
  return found.length ? h("tr", { class: "trouble", "data-key": `trouble ${one.name}` }, h("td", { colspan: 6 }, found)) : null;
}

function nothing() {
  return empty(
    "No pipeline yet",
    h("p", {}, "Write a pipeline in SQL here, or hand over a file from the command line."),
    h("p", {}, h("a", { class: "button main", href: "/console/new" }, "New application")),
    h("pre", {}, "headwater app create shop\nheadwater app version shop shop.sql\nheadwater app deploy shop"),
  );
}
