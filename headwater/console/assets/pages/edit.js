// SQL is written, checked and deployed: for a new application, or as the next version of one.

import { get, path, post } from "../api.js";
import { h, patch } from "../dom.js";
import { Editor } from "../editor.js";
import { failure } from "../parts.js";
import { script } from "./application.js";

export const title = (name) => (name ? `Edit ${name}` : "New application");

const EXAMPLE = `-- What is read: rows that are made up, ten a second.
CREATE TABLE orders (
  id BIGINT, pizza INT, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'datagen',
  'fields.id.kind' = 'sequence',
  'fields.pizza.min' = '1', 'fields.pizza.max' = '9',
  'fields.price.min' = '8', 'fields.price.max' = '20'
);

-- What is kept true.
CREATE VIEW sold AS
SELECT pizza, COUNT(*) AS pieces, SUM(price) AS price
FROM orders
GROUP BY pizza;
`;

export async function show(place, { life, params: [name], go }) {
  const known = name ? await get(path("applications", name), life.signal) : { application_versions: [], current_deployment: null };
  const last = known.application_versions.at(-1);
  const integrations = last ? filling(last) : [];
  const at = { name: name ?? "", ...runs(known.current_deployment), integration: integrations[0] ?? null, problem: null, confirm: null, busy: false };
  const editor = new Editor(last ? script(last) : EXAMPLE, () => {
    at.problem = null;
    draw();
  });
  const set = (changes) => {
    Object.assign(at, changes);
    draw();
  };
  const draw = () => patch(place, page(at, { isNew: !name, editor, set, deploy, isMasked: editor.text.includes("'***'"), isMixed: integrations.length > 1 }));
  async function deploy(confirmed = false) {
    set({ busy: true, problem: null, confirm: null });
    editor.mark(null);
    try {
      await create();
      await post(path("applications", at.name, "deployments"), { version_id: String(at.version), ...how(at), confirmed });
      go("/console" + path("pipelines", at.name));
    } catch (problem) {
      set({ busy: false, problem, confirm: problem.status === 409 && at.version ? () => deploy(true) : null });
      if (problem.place?.line) editor.mark(problem.place);
    }
  }
  /** The application and the version, as far as they are not there yet. */
  async function create() {
    if (!name && !at.isCreated) {
      await post("/applications", { name: at.name });
      at.isCreated = true;
    }
    if (at.version && at.text === editor.text) return;
    at.text = editor.text;
    at.version = null;
    at.version = (await post(path("applications", at.name, "versions"), { statement: editor.text, integration_id: at.integration })).version;
  }
  draw();
  // A long script is read from its beginning.
  editor.area.setSelectionRange(0, 0);
  (name ? editor.area : place.querySelector("input")).focus();
}

/** How it runs now is how the next version runs, unless somebody says otherwise. */
function runs(deployment) {
  const { mode = "continuous", every, cron, parallelism = 1, restart_enabled = true } = deployment ?? {};
  return { mode: cron ? "cron" : mode, every: every ?? "1h", cron: cron ?? "0 3 * * *", kept: { parallelism, restart_enabled } };
}

function how({ mode, every, cron, kept }) {
  if (mode === "cron") return { ...kept, mode: "schedule", cron };
  return { ...kept, mode, ...(mode === "schedule" ? { every } : {}) };
}

/** The integrations, or null for none, that fill what the parts of a version leave empty. */
function filling({ sources, sinks, statement, integration_id: own }) {
  const parts = [...sources, ...sinks, { create_table: statement, integration_id: own }];
  const fills = parts.filter((one) => /'\s*=\s*''(?!')/.test(one.create_table));
  return fills.length ? [...new Set(fills.map((one) => one.integration_id ?? null))] : [own];
}

function page(at, { isNew, editor, set, deploy, isMasked, isMixed }) {
  const submit = (event) => {
    event.preventDefault();
    deploy();
  };
  const field = (label, input) => h("label", { class: "field" }, label, input);
  const name = h("input", { required: true, pattern: "[A-Za-z0-9_][A-Za-z0-9_.\\-]{0,99}", placeholder: "orders", "data-own": "", title: "letters, digits, _, - and .", value: at.name, readonly: !isNew || at.isCreated, oninput: (event) => set({ name: event.target.value.trim() }) });
  const timed = (mode, label, part) => (at.mode === mode ? field(label, h("input", { required: true, "data-own": "", "data-key": part, value: at[part], size: 10, oninput: (event) => set({ [part]: event.target.value }) })) : null);
  const modes = [["continuous", "all the time"], ["once", "once, until all is known"], ["schedule", "again and again"], ["cron", "at certain times"]];
  const mode = h("select", { "data-own": "", onchange: (event) => set({ mode: event.target.value }) }, modes.map(([value, label]) => h("option", { value, selected: at.mode === value }, label)));
  return h(
    "form",
    { class: "page", onsubmit: submit },
    h("header", { class: "head" }, h("div", { class: "titles" }, h("div", { class: "crumbs" }, h("a", { href: "/console/applications" }, "Applications"), "/", isNew ? null : [h("a", { href: "/console" + path("applications", at.name) }, at.name), "/"]), h("h1", {}, isNew ? "New application" : "A new version"), at.integration ? h("p", { class: "soft" }, "What is left empty ('') is filled from the integration ", h("code", {}, at.integration), ".") : null)),
    h("div", { class: "row" }, isNew ? field("Name", name) : null, field("Runs", mode), timed("schedule", "Every", "every"), timed("cron", "Cron, in UTC", "cron"), h("button", { class: "button main", type: "submit", disabled: at.busy || isMasked || isMixed }, at.busy ? "Deploying…" : "Deploy")),
    // One place for all of them, so that the editor below is never drawn anew, whatever comes and goes.
    h("div", { class: "notes" }, isMasked ? h("p", { class: "busy-note" }, h("b", {}, "secrets"), "They are shown as ***. Write them again, or name where they are: ${env:NAME}.") : null,
      isMixed ? h("p", { class: "busy-note" }, h("b", {}, "integrations"), "Its tables are filled from several, and this text can have one: give it new versions over HTTP.") : null,
      at.problem ? wrong(at.problem) : null,
      at.confirm ? h("div", {}, h("button", { class: "button danger", type: "button", onclick: at.confirm }, "Deploy it all the same")) : null),
    h("section", { class: "panel" }, editor.shown),
  );
}

function wrong(problem) {
  const where = problem.place?.line ? `Line ${problem.place.line}: ` : "";
  return failure({ ...problem, message: where ? where + problem.message : problem.message, detail: problem.detail, hint: problem.hint });
}
