// Questions over everything that runs: asked once, or again and again, the answers side by side.

import { get, getRows } from "../api.js";
import { h, patch } from "../dom.js";
import { Editor } from "../editor.js";
import { brief, isNumber } from "../exact.js";
import { number, plural } from "../format.js";
import { age, failure } from "../parts.js";

export const title = () => "SQL";

const KEPT = "headwater-sql";

/** What is wrong with a question itself: it is not asked again. */
const REFUSED = [400, 413, 422];

export async function show(place, { life }) {
  let { views } = await get("/views", life.signal);
  const at = { results: null, problem: null, busy: false, live: false };
  const editor = new Editor(remembered() ?? first(views), () => {
    remember(editor.text);
    if (at.problem) draw();
  }, () => words(views));
  const run = async () => {
    at.busy = true;
    draw();
    try {
      at.results = (await getRows(`/queries?${new URLSearchParams({ sql: editor.text })}`, life.signal)).results;
      at.problem = null;
      editor.mark(null);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      Object.assign(at, { problem, live: at.live && !REFUSED.includes(problem.status) });
      if (problem.place?.line) editor.mark(problem.place);
    }
    at.busy = false;
    draw();
  };
  const draw = () => life.signal.aborted || patch(place, page(at, views, editor, { run, live, insert }));
  const live = () => {
    at.live = !at.live;
    draw();
  };
  const insert = (name) => {
    const { area } = editor;
    area.setRangeText(name, area.selectionStart, area.selectionEnd, "end");
    editor.changed();
    area.focus();
  };
  editor.area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  let turns = 0;
  await life.every(2000, async () => {
    // What runs changes, and then what can be asked.
    if (turns % 5 === 4) ({ views } = await get("/views", life.signal));
    turns += 1;
    if (at.live && !at.busy) await run();
    else draw();
  });
}

const first = (views) => {
  const known = views.find((one) => one.kind === "view") ?? views[0];
  return known ? `SELECT * FROM ${quoted(known)} LIMIT 100` : "SELECT 1 AS one";
};

/** Relations by both their names, and columns, which are those of a relation if its name stands before them. */
function words(views) {
  const relations = views.flatMap((one) => [{ word: plain(one.name), kind: one.kind }, { word: quoted(one), kind: one.kind }]);
  const members = views.map((one) => ({ word: plain(one.name), kind: one.kind, of: [one.application] }));
  const columns = views.flatMap((one) => one.columns.map((column) => ({ word: plain(column.name), kind: column.type, of: [one.name, one.full_name] })));
  return [...columns, ...relations, ...members];
}

const plain = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
const quoted = (relation) => `${plain(relation.application)}.${plain(relation.name)}`;

function remembered() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function remember(said) {
  try {
    sessionStorage.setItem(KEPT, said);
  } catch {
    // Then it is gone with the page.
  }
}

function page(at, views, editor, { run, live, insert }) {
  return h(
    "div",
    { class: "page" },
    h(
      "header",
      { class: "head" },
      h("div", { class: "titles" }, h("h1", {}, "SQL"), h("p", { class: "soft" }, "Ask over everything that runs. Each answer is true at one cut; a semicolon puts another one beside it.")),
      h("div", { class: "actions" }, h("button", { class: "button", type: "button", "aria-pressed": String(at.live), onclick: live, title: "Ask again every two seconds" }, at.live ? "Live: on" : "Live: off"), h("button", { class: "button main", type: "button", disabled: at.busy && !at.live, onclick: run, title: "Ctrl Enter" }, "Run")),
    ),
    h("div", { class: "beside two" }, h("section", { class: "panel asked" }, editor.shown), relations(views, insert)),
    at.problem ? failure({ ...at.problem, message: at.problem.message, detail: at.problem.detail, hint: at.problem.hint }) : null,
    at.results ? h("div", { class: at.results.length > 1 ? "grid" : "column" }, at.results.map(answer)) : null,
  );
}

function relations(views, insert) {
  const lines = views.map((one) => h("li", {}, h("button", { class: "sort name", type: "button", onclick: () => insert(quoted(one)) }, one.full_name), h("div", { class: "faint small" }, one.columns.map((column) => column.name).join(", "))));
  return h("section", { class: "panel", "aria-label": "Relations" }, h("header", {}, h("h2", {}, "Relations")), views.length ? h("ul", { class: "relations" }, lines) : h("div", { class: "empty" }, h("p", {}, "Nothing runs that could be asked.")));
}

function answer(result, index) {
  const numeric = (name) => result.rows.length > 0 && result.rows.every((row) => row[name] === null || isNumber(row[name]));
  const kinds = result.columns.map(({ name }) => (numeric(name) ? "number" : null));
  const rows = result.rows.map((row) => h("tr", {}, result.columns.map(({ name, type }, column) => h("td", { class: [kinds[column], row[name] === null && "null"].filter(Boolean).join(" ") || null }, brief(row[name], type)))));
  const heads = result.columns.map(({ name, type }, column) => h("th", { scope: "col", class: kinds[column], title: type }, name));
  return h(
    "section",
    { class: "panel", "aria-label": `Answer ${index + 1}` },
    h("header", {}, h("h2", {}, plural(result.count, "row")), result.batch || result.cut ? h("span", { class: "soft small truth" }, "true at ", h("code", {}, result.cut), ` · ${age(result.at)}`) : null),
    h("div", { class: "scroll tall" }, h("table", { class: "live" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows))),
    result.count > result.rows.length ? h("p", { class: "faint small more" }, `The first ${number(result.rows.length)} are shown.`) : null,
  );
}
