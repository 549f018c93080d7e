// A dashboard: charts on a grid, each drawn anew when its view changes, at most once a second.

import { get, getMarked, getRows, path, putMarked, remove } from "../api.js";
import { chart, named } from "../chart.js";
import { h, patch } from "../dom.js";
import { brief, compare, isNumber } from "../exact.js";
import { Followed } from "../follow.js";
import { number } from "../format.js";
import { icon } from "../icons.js";
import { age, empty, failure, sentence, WORDS } from "../parts.js";

export const title = (name) => name;

/** So many views are followed; the rows of others, and of tables, are asked for: a browser has six connections to one server. */
const FOLLOWED = 3;
const DRAWN = 5_000;

export async function show(place, { life, params: [name], go }) {
  const [board, mark] = await getMarked(path("dashboards", name), life.signal);
  const at = { board, mark, edits: false, isSure: false, problem: null };
  const followed = new Map();
  let saving = Promise.resolve();
  const load = async () => {
    [at.board, at.mark] = await getMarked(path("dashboards", name), life.signal);
  };
  // One after the other: each change is made to what the one before has left.
  const next = (work) => {
    saving = saving.then(async () => {
      at.problem = null;
      await work().catch(async (problem) => {
        at.problem = problem;
        // Somebody else was there first: whoever edits here sees what they left.
        if (problem.status === 409) await load().then(() => (at.edits = false), () => {});
      });
      draw();
    });
  };
  const loadAfterSaving = () => {
    const loaded = saving.then(load);
    saving = loaded.catch(() => {});
    return loaded;
  };
  const save = (changed) => next(async () => {
    [at.board, at.mark] = await putMarked(path("dashboards", name), { ...at.board, ...changed(at.board) }, at.mark);
  });
  const acts = {
    edit: () => {
      Object.assign(at, { edits: !at.edits, isSure: false });
      draw();
    },
    change: (index, changes) => save(({ charts }) => ({ charts: charts.map((one, place) => (place === index ? { ...one, ...changes } : one)) })),
    drop: (index) => save(({ charts }) => ({ charts: charts.filter((one, place) => place !== index) })),
    rename: (said) => save(() => ({ title: said })),
    remove: () => {
      if (at.isSure) return next(() => remove(path("dashboards", name)).then(() => go("/console/dashboards")));
      at.isSure = true;
      return draw();
    },
  };
  const draw = () => life.signal.aborted || patch(place, page(name, at, followed, acts));
  const asked = new Set();
  let views = [];
  const follow = () => {
    for (const { view } of at.board.charts) {
      const relation = views.find((one) => one.full_name === view);
      if (!relation || followed.has(view)) continue;
      const one = new Followed(relation, () => {});
      if (relation.kind === "view" && followed.size - asked.size < FOLLOWED) one.start(life.signal);
      else asked.add(view);
      followed.set(view, one);
    }
  };
  /** The rows of those that are asked for, when a batch is done. */
  const askAll = async () => {
    for (const view of asked) {
      const [one, now] = [followed.get(view), views.find(({ full_name: known }) => known === view)];
      one.lost = now ? null : { message: "it does not run" };
      if (!now || (one.batch === now.batch && one.cut === now.cut)) continue;
      try {
        one.replace(await getRows(`${path("views", view)}?limit=${DRAWN}`, life.signal));
      } catch (problem) {
        // One that is not whole yet, or goes on no more, keeps no other from being drawn; it is asked again.
        if (problem.name === "AbortError" || !problem.status) throw problem;
        one.lost = problem;
      }
    }
  };
  let turns = 0;
  await life.every(1000, async () => {
    ({ views } = await get("/views", life.signal));
    if (turns % 5 === 4 && !at.edits) await loadAfterSaving();
    turns += 1;
    follow();
    await askAll();
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
      h("div", { class: "actions" }, at.edits ? h("button", { class: "button danger", type: "button", onclick: acts.remove }, at.isSure ? "Remove it now" : "Remove") : null, h("a", { class: "button", href: "#", download: `${name}.json`, onclick: download }, "Download"), h("button", { class: "button", type: "button", "aria-pressed": String(at.edits), onclick: acts.edit }, at.edits ? "Done" : "Edit")),
    ),
    at.problem ? failure(at.problem) : null,
    board.charts.length ? h("div", { class: "grid" }, board.charts.map((one, index) => card(one, index, followed.get(one.view), at, acts))) : h("section", { class: "panel" }, empty("It has no chart", h("p", {}, "Open a view, choose a chart, and add it here."), h("p", {}, h("a", { class: "button main", href: "/console/views" }, "To the views")))),
  );
}

function card(one, index, followed, at, acts) {
  const rows = followed ? followed.shown(Date.now()).filter((entry) => !entry.gone).map((entry) => entry.row) : [];
  const isKnown = followed && followed.at !== null;
  const label = named(one);
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
    h("div", { class: one.kind === "table" && isKnown ? "filled" : "inside" }, isKnown ? (one.kind === "table" ? sheet(rows, followed, one.y) : chart(one.kind, rows, one, followed.isCut)) : h("p", { class: "faint center" }, followed ? (followed.lost ? `${sentence(followed.lost.message)}.` : "Waiting for its rows.") : `${one.view} does not run.`)),
    isKnown ? h("footer", { class: followed.lost ? "small bad-text" : "faint small" }, standing(followed), "true at ", h("code", {}, followed.cut), ` · ${age(followed.at)}`) : null,
  );
}

/** Why a chart does not move, if it does not. */
function standing({ ended, lost }) {
  if (lost) return `not live: ${lost.message}; `;
  return ended ? `${WORDS[ended.status] ?? ended.status}; ` : "";
}

/** The first rows; those with the largest values first if a column of values is named. */
function sheet(rows, { relation: { columns }, isCut }, y) {
  const by = columns.some(({ name }) => name === y) ? y : null;
  const sorted = [...rows].sort((one, other) => (by ? compare(other[by], one[by]) : compare(one[columns[0].name], other[columns[0].name])));
  const lines = sorted.slice(0, 20).map((row) => h("tr", {}, columns.map(({ name, type }) => h("td", { class: isNumber(row[name]) ? "number" : null }, brief(row[name], type)))));
  const more = isCut ? `Of the first ${number(rows.length)} rows; there are more.` : sorted.length > 20 ? `${number(sorted.length - 20)} more rows.` : null;
  const heads = columns.map(({ name }) => h("th", { scope: "col", class: rows.some((row) => isNumber(row[name])) ? "number" : null }, name));
  return [h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines))), more ? h("p", { class: "faint small more" }, more) : null];
}
