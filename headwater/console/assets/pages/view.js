// A view as it lives: its rows, its changes as they come, and a chart of it.

import { get, getRows, path, put } from "../api.js";
import { axes, chart, KINDS } from "../chart.js";
import { h, patch } from "../dom.js";
import { compare, isNumber, text } from "../exact.js";
import { Followed } from "../follow.js";
import { ago, clock, number, plural } from "../format.js";
import { failure } from "../parts.js";

export const title = (name) => name;

const SHOWN = 300;
const FLASH = 1600;

export async function show(place, { life, params: [name], query }) {
  const { views } = await get("/views", life.signal);
  const relation = views.find((one) => one.full_name === name || one.name === name);
  if (!relation) throw Object.assign(new Error(`there is no view '${name}'`), { hint: "Its pipeline may have been stopped." });
  const at = { kind: query.get("show") ?? "table", order: relation.columns[0].name, down: false, filter: "", ...axes(relation.columns), isLost: false };
  if (query.get("x")) at.x = query.get("x");
  if (query.get("y")) at.y = query.get("y");
  if (relation.kind === "table") return still(place, relation, at, life);
  const followed = new Followed(relation, (what) => {
    at.isLost = what === "lost";
    draw();
  });
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
    drawing = requestAnimationFrame(() => life.signal.aborted || patch(place, page(relation, followed, at, set)));
  };
  followed.start(life.signal);
  // Ages go on, and what has flashed goes out.
  return life.every(500, async () => draw());
}

/** Put the chart at the end of a dashboard, which may be a new one. */
async function add(into, relation, { kind, x, y }) {
  const known = await get(path("dashboards", into)).catch((problem) => {
    if (problem.status === 404) return { title: "", charts: [] };
    throw problem;
  });
  const chart = { view: relation.full_name, kind, x, y, title: "", width: 1 };
  await put(path("dashboards", into), { ...known, charts: [...known.charts, chart] });
  return { into };
}

/** A table has no changes of its own to follow: its first rows are asked for again and again. */
async function still(place, relation, at, life) {
  const followed = new Followed(relation, () => {});
  const set = (changes) => patch(place, page(relation, followed, Object.assign(at, changes), set));
  return life.every(2000, async () => {
    const said = await getRows(`${path("views", relation.full_name)}?limit=${SHOWN}`, life.signal);
    followed.replace(said);
    set({});
  });
}

function page(relation, followed, at, set) {
  const rows = followed.shown(Date.now());
  const living = rows.filter((entry) => !entry.gone);
  at.isKnown = followed.at !== null;
  return h(
    "div",
    { class: "page" },
    head(relation, followed, living),
    followed.ended ? h("p", { class: "busy-note" }, h("b", {}, followed.ended.state), "These are the rows at its last cut.") : null,
    followed.ended?.error ? failure(followed.ended.error) : null,
    at.added?.problem ? failure(at.added.problem) : null,
    at.added?.into ? h("p", { class: "good-note", role: "status" }, h("b", {}, "Added. "), h("a", { href: "/console" + path("dashboards", at.added.into) }, `To the dashboard ${at.added.into}`)) : null,
    at.isLost && !followed.ended ? h("p", { class: "busy-note" }, h("b", {}, "lost"), "The server does not answer; trying again.") : null,
    h(
      "div",
      { class: relation.kind === "view" ? "beside two" : "beside" },
      h("section", { class: "panel", "aria-label": "Rows" }, toolbar(relation, at, set), at.kind === "table" ? sheet(relation, rows, at, set) : h("div", { class: "inside" }, chart(at.kind, living.map((entry) => entry.row), at))),
      relation.kind === "view" ? changes(relation, followed) : null,
    ),
  );
}

function head(relation, followed, rows) {
  const age = followed.at ? ago(new Date(followed.at).toISOString()) : "waiting for its rows";
  return h(
    "header",
    { class: "head stays" },
    h(
      "div",
      { class: "titles" },
      h("div", { class: "crumbs" }, h("a", { href: "/console" + path("pipelines", relation.application) }, relation.application), `/ ${relation.kind}`),
      h("div", { class: "title" }, h("h1", {}, relation.name), followed.ended ? null : h("span", { class: "state ok" }, "live")),
      h("p", { class: "soft truth" }, "True at ", h("code", {}, followed.cut ?? "…"), ` · batch ${followed.batch === null ? "…" : number(followed.batch)} · ${age} · ${plural(rows.length, "row")}${followed.isCut ? ", more are not shown" : ""}`),
    ),
  );
}

function toolbar(relation, at, set) {
  const kinds = ["table", ...KINDS].map((kind) => h("button", { type: "button", "aria-pressed": String(at.kind === kind), onclick: () => set({ kind }) }, kind[0].toUpperCase() + kind.slice(1)));
  const column = (axis, names) => h("label", { class: "inline" }, axis === "x" ? "by" : "of", h("select", { "aria-label": axis === "x" ? "Names" : "Values", "data-own": "", onchange: (event) => set({ [axis]: event.target.value }) }, names.map((name) => h("option", { value: name, selected: at[axis] === name }, name))));
  const names = relation.columns.map((one) => one.name);
  const search = h("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows", "data-own": "", oninput: (event) => set({ filter: event.target.value }) });
  return h("header", {}, h("div", { class: "choice", role: "group", "aria-label": "Shown as" }, kinds), at.kind === "table" ? search : h("div", { class: "controls" }, column("y", at.numbers.length ? at.numbers : names), at.kind === "number" ? null : column("x", names), relation.kind === "view" ? kept(at, set) : null));
}

/** Where the chart can be kept. */
function kept(at, set) {
  if (!at.adding) return h("button", { class: "button", type: "button", onclick: () => set({ adding: true, added: null }) }, "Add to dashboard");
  const name = h("input", { required: true, pattern: "[A-Za-z0-9_][A-Za-z0-9_.\\-]{0,99}", placeholder: "dashboard", "aria-label": "Dashboard", size: 14, autofocus: true, "data-own": "", title: "letters, digits, _, - and ." });
  const submit = (event) => {
    event.preventDefault();
    at.add(event.target.querySelector("input").value.trim());
  };
  return h("form", { class: "inline", onsubmit: submit }, name, h("button", { class: "button main", type: "submit" }, "Add"));
}

function sheet(relation, entries, at, set) {
  const wanted = at.filter.toLowerCase();
  const kept = wanted ? entries.filter(({ row }) => Object.values(row).some((value) => text(value).toLowerCase().includes(wanted))) : entries;
  if (at.order) kept.sort((one, other) => compare(one.row[at.order], other.row[at.order]) * (at.down ? -1 : 1));
  if (!kept.length) return h("div", { class: "empty" }, h("p", {}, wanted ? "No row matches." : at.isKnown ? "It has no row now." : "Waiting for its rows."));
  const isNumeric = (name) => at.numbers.includes(name);
  const heads = relation.columns.map(({ name, type }) => {
    const turn = () => set(at.order === name ? { down: !at.down } : { order: name, down: isNumeric(name) });
    const sorted = at.order === name ? (at.down ? "descending" : "ascending") : null;
    return h("th", { scope: "col", class: isNumeric(name) ? "number" : null, "aria-sort": sorted, title: type }, h("button", { type: "button", class: "sort", onclick: turn }, name, sorted ? h("span", { "aria-hidden": "true" }, at.down ? " ↓" : " ↑") : null));
  });
  const rows = kept.slice(0, SHOWN).map((entry) => line(relation, entry, isNumeric));
  return h("div", { class: "scroll tall" }, h("table", { class: "live" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)), kept.length > SHOWN ? h("p", { class: "faint small more" }, `${number(kept.length - SHOWN)} more rows; filter to find one.`) : null);
}

function line(relation, { id, row, count, fresh, gone }, isNumeric) {
  const now = Date.now();
  const isFresh = (name) => now - Math.max(fresh.all ?? 0, fresh[name] ?? 0) < FLASH;
  const cells = relation.columns.map(({ name }, index) => {
    const value = row[name];
    const classes = [isNumeric(name) && "number", value === null && "null", !gone && isFresh(name) && "flash"].filter(Boolean).join(" ");
    return h("td", { class: classes || null }, text(value), index === 0 && count > 1 ? h("span", { class: "tag" }, `× ${number(count)}`) : null);
  });
  return h("tr", { "data-key": `row ${id}`, class: gone ? "gone" : null }, cells);
}

function changes(relation, followed) {
  const lines = followed.changes.slice(0, 40).map((one) => {
    const values = relation.columns.map(({ name }) => h("span", { class: isNumber(one.row[name]) ? "mono" : null, title: name }, text(one.row[name])));
    return h("li", { class: one.op === "+" ? "came" : "went" }, h("b", { "aria-label": one.op === "+" ? "came" : "went" }, one.op === "+" ? "+" : "−"), h("span", { class: "values" }, values), h("time", { class: "faint", title: `batch ${one.batch}, true at ${one.cut}` }, clock(one.at)));
  });
  return h("section", { class: "panel", "aria-label": "Changes" }, h("header", {}, h("h2", {}, "Changes")), lines.length ? h("ol", { class: "changes" }, lines) : h("div", { class: "empty" }, h("p", {}, "They appear here as they are committed at the source.")));
}
