// A dashboard: charts on a grid, each drawn anew when its view changes, at most once a second.

import { get, getRows, path, put, remove } from "../api.js";
import { chart } from "../chart.js";
import { h, patch } from "../dom.js";
import { compare, isNumber, text } from "../exact.js";
import { Followed } from "../follow.js";
import { ago } from "../format.js";
import { icon } from "../icons.js";
import { empty, failure } from "../parts.js";

export const title = (name) => name;

/** So many views are followed; the rows of others are asked for, as a browser has six connections to one server. */
const FOLLOWED = 3;

export async function show(place, { life, params: [name], go }) {
  const at = { board: await get(path("dashboards", name), life.signal), edits: false, problem: null };
  const followed = new Map();
  let saving = Promise.resolve();
  // One after the other: each change is made to what the one before has left.
  const save = (changed) => {
    saving = saving.then(async () => {
      try {
        at.board = await put(path("dashboards", name), { ...at.board, ...changed(at.board) });
        at.problem = null;
      } catch (problem) {
        at.problem = problem;
      }
      draw();
    });
  };
  const acts = {
    edit: () => {
      at.edits = !at.edits;
      draw();
    },
    change: (index, changes) => save(({ charts }) => ({ charts: charts.map((one, place) => (place === index ? { ...one, ...changes } : one)) })),
    drop: (index) => save(({ charts }) => ({ charts: charts.filter((one, place) => place !== index) })),
    rename: (said) => save(() => ({ title: said })),
    remove: () => {
      saving = saving.then(() => remove(path("dashboards", name))).then(() => go("/console/dashboards"));
    },
  };
  const draw = () => life.signal.aborted || patch(place, page(name, at, followed, acts));
  const asked = new Set();
  let views = [];
  const follow = () => {
    for (const { view } of at.board.charts) {
      const relation = views.find((one) => one.full_name === view && one.kind === "view");
      const known = followed.get(view);
      if (!relation || (known && !known.ended)) continue;
      const isLive = known ? !asked.has(view) : followed.size < FOLLOWED;
      followed.set(view, new Followed(relation, () => {}));
      if (isLive) followed.get(view).start(life.signal);
      else asked.add(view);
    }
  };
  const askAll = async () => {
    for (const view of asked) {
      // One that is not whole yet, or does not run, is asked again the next time.
      const said = await getRows(`${path("views", view)}?limit=5000`, life.signal).catch(() => null);
      if (said) followed.get(view).replace(said);
    }
  };
  let turns = 0;
  await life.every(1000, async () => {
    if (turns % 5 === 0) ({ views } = await get("/views", life.signal));
    turns += 1;
    follow();
    if (turns % 3 === 0) await askAll();
    draw();
  });
}

function page(name, at, followed, acts) {
  const { board } = at;
  const file = new Blob([`${JSON.stringify(board, null, 2)}\n`], { type: "application/json" });
  const download = (event) => {
    const address = URL.createObjectURL(file);
    event.currentTarget.href = address;
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return h(
    "div",
    { class: "page" },
    h(
      "header",
      { class: "head" },
      h("div", { class: "titles" }, h("div", { class: "crumbs" }, h("a", { href: "/console/dashboards" }, "Dashboards"), "/"), at.edits ? h("input", { class: "as-title", "aria-label": "Title", "data-own": "", value: board.title || name, onchange: (event) => acts.rename(event.target.value) }) : h("h1", {}, board.title || name)),
      h("div", { class: "actions" }, at.edits ? h("button", { class: "button danger", type: "button", onclick: acts.remove }, "Remove") : null, h("a", { class: "button", href: "#", download: `${name}.json`, onclick: download }, "Download"), h("button", { class: "button", type: "button", "aria-pressed": String(at.edits), onclick: acts.edit }, at.edits ? "Done" : "Edit")),
    ),
    at.problem ? failure(at.problem) : null,
    board.charts.length ? h("div", { class: "grid" }, board.charts.map((one, index) => card(one, index, followed.get(one.view), at, acts))) : h("section", { class: "panel" }, empty("It has no chart", h("p", {}, "Open a view, choose a chart, and add it here."), h("p", {}, h("a", { class: "button main", href: "/console/views" }, "To the views")))),
  );
}

function card(one, index, followed, at, acts) {
  const rows = followed ? followed.shown(Date.now()).filter((entry) => !entry.gone).map((entry) => entry.row) : [];
  const isKnown = followed && followed.at !== null;
  const label = one.title || (one.kind === "table" ? one.view.split(".").slice(1).join(".") : `${one.y} by ${one.x}`);
  return h(
    "section",
    { class: one.width === 2 ? "panel wide" : "panel", "aria-label": label },
    h(
      "header",
      {},
      h("h2", {}, label),
      at.edits
        ? [h("button", { class: "button", type: "button", onclick: () => acts.change(index, { width: 3 - one.width }) }, one.width === 2 ? "Narrow" : "Wide"), h("button", { class: "button", type: "button", "aria-label": `Remove ${label}`, onclick: () => acts.drop(index) }, icon("close"))]
        : h("a", { class: "small soft", href: `/console${path("views", one.view)}` }, one.view),
    ),
    h("div", { class: one.kind === "table" && isKnown ? "filled" : "inside" }, isKnown ? (one.kind === "table" ? sheet(rows, followed.relation, one.y) : chart(one.kind, rows, one)) : h("p", { class: "faint center" }, followed ? "Waiting for its rows." : `${one.view} does not run.`)),
    isKnown ? h("footer", { class: "faint small" }, followed.ended ? `${followed.ended.state}; true at ` : "true at ", h("code", {}, followed.cut), ` · ${ago(new Date(followed.at).toISOString())}`) : null,
  );
}

/** The first rows; those with the largest values first if a column of values is named. */
function sheet(rows, { columns }, y) {
  const by = columns.some(({ name }) => name === y) ? y : null;
  const sorted = [...rows].sort((one, other) => (by ? compare(other[by], one[by]) : compare(one[columns[0].name], other[columns[0].name])));
  const lines = sorted.slice(0, 20).map((row) => h("tr", {}, columns.map(({ name }) => h("td", { class: isNumber(row[name]) ? "number" : null }, text(row[name])))));
  const heads = columns.map(({ name }) => h("th", { scope: "col", class: rows.some((row) => isNumber(row[name])) ? "number" : null }, name));
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines)));
}
