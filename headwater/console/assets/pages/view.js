// A view as it lives: its rows, its changes as they come, and a chart of it.

import { get, getMarked, getRows, path, putMarked } from "../api.js";
import { axes, chart, KINDS } from "../chart.js";
import { h, patch } from "../dom.js";
import { brief, compare, isNumber, text } from "../exact.js";
import { Followed } from "../follow.js";
import { clock, number, plural } from "../format.js";
import { age, failure, sentence, WORDS } from "../parts.js";

export const title = (name) => name;

const SHOWN = 300;
const CELLS = 4_000;
const DRAWN = 5_000;
const FLASH = 1600;

export async function show(place, { life, params: [name], query }) {
  const { views } = await get("/views", life.signal);
  const relation = views.find((one) => one.full_name === name || one.name === name);
  if (!relation) throw Object.assign(new Error(`there is no view '${name}'`), { hint: "Its pipeline may not run now. The page looks again.", mayCome: true });
  const at = { kind: query.get("show") ?? "table", order: relation.columns[0].name, down: false, filter: "", ...axes(relation.columns) };
  if (query.get("x")) at.x = query.get("x");
  if (query.get("y")) at.y = query.get("y");
  if (relation.kind === "table") return still(place, relation, at, life);
  const followed = new Followed(relation, () => draw());
  at.add = (into) => add(into, relation, at).then((added) => set({ added, adding: false }), (problem) => set({ added: { problem } }));
  const set = (changes) => {
    Object.assign(at, changes);
    const said = new URLSearchParams(at.kind === "table" ? {} : { show: at.kind, x: at.x, y: at.y });
    history.replaceState(null, "", `${location.pathname}${said.size ? `?${said}` : ""}`);
    draw();
  };
  let drawing = 0;
  const draw = () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => life.signal.aborted || patch(place, page(followed, at, set)));
  };
  followed.start(life.signal);
  // Ages go on, and what has flashed goes out.
  return life.every(500, async () => draw());
}

/** Put the chart at the end of a dashboard, which may be a new one; if somebody changes it meanwhile, behind that. */
async function add(into, relation, { kind, x, y }) {
  const where = path("dashboards", into);
  const [known, mark] = await getMarked(where).catch((problem) => {
    if (problem.status === 404) return [{ title: "", charts: [] }, '"nothing"'];
    throw problem;
  });
  const chart = { view: relation.full_name, kind, x, y, title: "", width: 1 };
  try {
    await putMarked(where, { ...known, charts: [...known.charts, chart] }, mark);
  } catch (problem) {
    if (problem.status === 409) return add(into, relation, { kind, x, y });
    throw problem;
  }
  return { into };
}

/** A table has no changes of its own to follow: its first rows are asked for again and again. */
async function still(place, relation, at, life) {
  const followed = new Followed(relation, () => {});
  const set = (changes) => {
    const isDrawn = at.kind === "table";
    patch(place, page(followed, Object.assign(at, changes), set));
    if (isDrawn && at.kind !== "table") load().catch(() => {});
  };
  const load = async () => {
    followed.replace(await getRows(`${path("views", relation.full_name)}?limit=${at.kind === "table" ? SHOWN : DRAWN}`, life.signal));
    set({});
  };
  return life.every(2000, load);
}

function page(followed, at, set) {
  const { relation } = followed;
  const rows = followed.shown(Date.now());
  const living = rows.filter((entry) => !entry.gone);
  at.isKnown = followed.at !== null;
  return h(
    "div",
    { class: "page" },
    head(relation, followed, living),
    followed.ended ? h("p", { class: "busy-note" }, h("b", {}, WORDS[followed.ended.status] ?? followed.ended.status), "These are the rows at its last cut.") : null,
    followed.ended?.error ? failure(followed.ended.error) : null,
    at.added?.problem ? failure(at.added.problem) : null,
    at.added?.into ? h("p", { class: "good-note", role: "status" }, h("b", {}, "Added. "), h("a", { href: "/console" + path("dashboards", at.added.into) }, `To the dashboard ${at.added.into}`)) : null,
    followed.lost ? h("p", { class: "busy-note", role: "status" }, h("b", {}, "lost"), `${sentence(followed.lost.message)}. ${followed.lost.hint ?? ""} The page tries again.`) : null,
    h(
      "div",
      { class: relation.kind === "view" ? "beside two" : "beside" },
      h("section", { class: "panel", "aria-label": "Rows" }, toolbar(relation, at, set), at.kind === "table" ? sheet(followed, rows, at, set) : h("div", { class: "inside" }, chart(at.kind, living.map((entry) => entry.row), at, followed.isCut))),
      relation.kind === "view" ? changes(relation, followed) : null,
    ),
  );
}

function head(relation, followed, rows) {
  const old = followed.batch === null ? "waiting for its rows" : age(followed.at);
  return h(
    "header",
    { class: "head stays" },
    h(
      "div",
      { class: "titles" },
      h("div", { class: "crumbs" }, h("a", { href: "/console" + path("pipelines", relation.application) }, relation.application), `/ ${relation.kind}`),
      h("div", { class: "title" }, h("h1", {}, relation.name), followed.ended ? null : followed.lost ? h("span", { class: "state busy" }, "not live") : h("span", { class: "state ok" }, "live")),
      h("p", { class: "soft truth" }, "True at ", h("code", {}, followed.cut ?? "…"), ` · batch ${followed.batch === null ? "…" : number(followed.batch)} · ${old} · ${followed.isCut ? `the first ${number(rows.length)} rows; there are more` : plural(rows.length, "row")}`),
    ),
  );
}

function toolbar(relation, at, set) {
  const kinds = ["table", ...KINDS].map((kind) => h("button", { type: "button", "aria-pressed": String(at.kind === kind), onclick: () => set({ kind }) }, kind[0].toUpperCase() + kind.slice(1)));
  const column = (axis, names) => h("label", { class: "inline" }, axis === "x" ? "by" : "of", h("select", { "aria-label": axis === "x" ? "Names" : "Values", "data-own": "", onchange: (event) => set({ [axis]: event.target.value }) }, names.map((name) => h("option", { value: name, selected: at[axis] === name }, name))));
  const names = relation.columns.map((one) => one.name);
  const search = h("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows", "data-own": "", oninput: (event) => set({ filter: event.target.value }) });
  const said = at.kind === "table" ? search : [column("y", at.numbers.length ? at.numbers : names), at.kind === "number" ? null : column("x", names)];
  return h("header", {}, h("div", { class: "choice", role: "group", "aria-label": "Shown as" }, kinds), h("div", { class: "controls" }, said, relation.kind === "view" ? kept(at, set) : null));
}

/** Where what is shown can be kept. */
function kept(at, set) {
  if (!at.adding) return h("button", { class: "button", type: "button", onclick: () => set({ adding: true, added: null }) }, "Add to dashboard");
  const name = h("input", { required: true, pattern: "[A-Za-z0-9_][A-Za-z0-9_.\\-]{0,99}", placeholder: "dashboard", "aria-label": "Dashboard", size: 14, autofocus: true, "data-own": "", title: "letters, digits, _, - and ." });
  const submit = (event) => {
    event.preventDefault();
    at.add(event.target.querySelector("input").value.trim());
  };
  return h("form", { class: "inline", onsubmit: submit }, name, h("button", { class: "button main", type: "submit" }, "Add"));
}

/** The rows that the filter lets pass, in order; found anew only if something has changed, as there may be many. */
function chosen({ version }, entries, at) {
  const asked = JSON.stringify([version, at.filter, at.order, at.down]);
  if (at.found?.asked === asked) return at.found.kept;
  const wanted = at.filter.toLowerCase();
  const kept = entries.filter(({ row }) => !wanted || Object.values(row).some((value) => text(value).toLowerCase().includes(wanted)));
  // Rows with equal values keep their places, also those that change: nobody sees a cell light up in a row that jumps.
  kept.sort((one, other) => compare(one.row[at.order], other.row[at.order]) * (at.down ? -1 : 1) || one.id - other.id);
  at.found = { asked, kept };
  return kept;
}

function sheet(followed, entries, at, set) {
  const { relation } = followed;
  const kept = chosen(followed, entries, at);
  if (!kept.length) return h("div", { class: "empty" }, h("p", {}, at.filter ? "No row matches." : at.isKnown ? "It has no row now." : "Waiting for its rows."));
  const isNumeric = (name) => at.numbers.includes(name);
  const heads = relation.columns.map(({ name, type }) => {
    const turn = () => set(at.order === name ? { down: !at.down } : { order: name, down: isNumeric(name) });
    const sorted = at.order === name ? (at.down ? "descending" : "ascending") : null;
    return h("th", { scope: "col", class: isNumeric(name) ? "number" : null, "aria-sort": sorted, title: type }, h("button", { type: "button", class: "sort", onclick: turn }, name, sorted ? h("span", { "aria-hidden": "true" }, at.down ? " ↓" : " ↑") : null));
  });
  const most = Math.max(20, Math.min(SHOWN, Math.floor(CELLS / relation.columns.length)));
  const rows = kept.slice(0, most).map((entry) => line(relation, entry, isNumeric));
  return h("div", { class: "scroll tall" }, h("table", { class: "live" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)), kept.length > most ? h("p", { class: "faint small more" }, `${plural(kept.length - most, "more row")}; filter to find one.`) : null);
}

function line(relation, { id, row, count, fresh, gone }, isNumeric) {
  const now = Date.now();
  const isFresh = (name) => now - Math.max(fresh.all ?? 0, fresh[name] ?? 0) < FLASH;
  const cells = relation.columns.map(({ name, type }, index) => {
    const value = row[name];
    const classes = [isNumeric(name) && "number", value === null && "null", !gone && isFresh(name) && "flash"].filter(Boolean).join(" ");
    return h("td", { class: classes || null, title: long(value) }, brief(value, type), index === 0 && count > 1 ? h("span", { class: "tag" }, `× ${number(count)}`) : null);
  });
  return h("tr", { "data-key": `row ${id}`, class: gone ? "gone" : null }, cells);
}

/** What may not fit into its cell, to be read when somebody points at it. */
const long = (value) => (value !== null && text(value).length > 40 ? text(value).slice(0, 2000) : null);

function changes(relation, followed) {
  const lines = followed.changes.slice(0, 40).map((one) => {
    const values = relation.columns.map(({ name, type }) => h("span", { class: isNumber(one.row[name]) ? "mono" : null, title: name }, brief(one.row[name], type, 160)));
    return h("li", { class: one.op === "+" ? "came" : "went" }, h("b", { "aria-label": one.op === "+" ? "came" : "went" }, one.op === "+" ? "+" : "−"), h("span", { class: "values" }, values), h("time", { class: "faint", title: `batch ${one.batch}, true at ${one.cut}` }, clock(one.at)));
  });
  return h("section", { class: "panel", "aria-label": "Changes" }, h("header", {}, h("h2", {}, "Changes")), lines.length ? h("ol", { class: "changes" }, lines) : h("div", { class: "empty" }, h("p", {}, "They appear here as they are committed at the source.")));
}
