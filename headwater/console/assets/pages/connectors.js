// Connectors of Kafka Connect: registered from JSON, looked at, paused, resumed, restarted, removed.

import { get, path, post, remove } from "../api.js";
import { h } from "../dom.js";
import { icon } from "../icons.js";
import { empty, failure, sentence } from "../parts.js";

const KINDS = { RUNNING: "ok", PAUSED: "calm", STOPPED: "calm", FAILED: "bad" };

const EXAMPLE = `{
  "name": "orders-connector",
  "config": {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "127.0.0.1",
    "database.port": "5432",
    "database.user": "postgres",
    "database.password": "\${env:PGPASSWORD}",
    "database.dbname": "postgres",
    "topic.prefix": "shop",
    "table.include.list": "public.orders",
    "plugin.name": "pgoutput"
  }
}
`;

/** A part of a page that looks after itself; `redraw` puts it there. */
export function connectors(life, redraw) {
  const at = { seen: null, away: null, writes: false, problem: null, said: null, busy: false, sure: null };
  const load = async () => {
    try {
      [at.seen, at.away] = [await get("/connectors", life.signal), null];
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      [at.seen, at.away] = [null, problem];
    }
    redraw();
  };
  const act = async (work, said) => {
    Object.assign(at, { busy: true, problem: null, said: null, sure: null });
    redraw();
    try {
      at.said = said(await work());
      at.writes = false;
    } catch (problem) {
      at.problem = problem;
    }
    at.busy = false;
    await load();
  };
  const acts = {
    write: (writes) => {
      Object.assign(at, { writes, problem: null, said: null });
      redraw();
    },
    register: (text) => act(() => post("/connectors", { text }), ({ name, was_there: before, notes }) => [`${name} ${before ? "has new options" : "is registered"}.`, ...notes.map(sentence)].join(" ")),
    turn: (name, deed) => act(() => post(path("connectors", name, deed)), () => `${name}: ${deed} is on its way.`),
    drop: (name) => {
      if (at.sure === name) return act(() => remove(path("connectors", name)), () => `${name} is removed; slot, publication and topics stay.`);
      at.sure = name;
      return redraw();
    },
  };
  life.every(3000, load);
  return { draw: () => section(at, acts) };
}

function section(at, acts) {
  const listed = at.seen?.connectors ?? [];
  return h(
    "section",
    { class: "panel", "data-key": "connectors", "aria-label": "Connectors" },
    h("header", {}, h("h2", {}, "Connectors"), at.seen ? h("code", { class: "soft small" }, at.seen.url) : null, at.seen && !at.writes ? h("button", { class: "button main", type: "button", onclick: () => acts.write(true) }, icon("plus"), "Register") : null),
    at.problem ? h("div", { class: "inside" }, failure(told(at.problem))) : null,
    at.said ? h("div", { class: "inside" }, h("p", { class: "good-note", role: "status" }, at.said)) : null,
    at.writes ? form(at, acts) : null,
    at.away ? empty("No Kafka Connect", h("p", {}, sentence(at.away.message), "."), h("p", { class: "faint small" }, at.away.hint)) : null,
    at.seen && !listed.length && !at.writes ? empty("No connector yet", h("p", {}, "Register one from its JSON, as Debezium's pages show it; options of old versions are put into today's words.")) : null,
    listed.length ? h("ul", { class: "things" }, listed.map((one) => connector(one, at, acts))) : null,
  );
}

const told = (problem) => ({ ...problem, message: problem.place?.line ? `Line ${problem.place.line}: ${problem.message}` : problem.message, detail: problem.detail, hint: problem.hint });

function form(at, acts) {
  const submit = (event) => {
    event.preventDefault();
    acts.register(event.target.querySelector("textarea").value);
  };
  return h(
    "form",
    { class: "inside stack", onsubmit: submit },
    h("label", { class: "field" }, "JSON", h("textarea", { class: "mono tall", rows: 15, required: true, spellcheck: "false", autofocus: true, "data-own": "", value: EXAMPLE, "aria-label": "JSON" })),
    h("div", { class: "row" }, h("button", { class: "button main", type: "submit", disabled: at.busy }, at.busy ? "Registering…" : "Register it"), h("button", { class: "button", type: "button", onclick: () => acts.write(false) }, "Cancel"), h("span", { class: "faint small" }, "A secret is best named, not written: ${env:NAME} or ${file:path}.")),
  );
}

function connector(one, at, acts) {
  const failed = one.parts.filter((part) => part.state === "FAILED");
  const rests = ["PAUSED", "STOPPED"].includes(one.state);
  const button = (label, act, kind = "") => h("button", { class: `button ${kind}`, type: "button", disabled: at.busy, onclick: act }, label);
  const tasks = one.parts.filter((part) => part.task !== null);
  return h(
    "li",
    { "data-key": one.name, "aria-label": one.name },
    h(
      "div",
      { class: "thing" },
      h("span", { class: "name" }, one.name),
      h("span", { class: `state ${failed.length ? "bad" : (KINDS[one.state] ?? "busy")}` }, failed.length ? "failed" : one.state.toLowerCase()),
      h("span", { class: "faint small" }, tasks.length ? tasks.map((part) => `task ${part.task} ${part.state.toLowerCase()}`).join(", ") : "no task yet"),
      h("span", { class: "actions" }, rests ? button("Resume", () => acts.turn(one.name, "resume")) : button("Pause", () => acts.turn(one.name, "pause")), button("Restart", () => acts.turn(one.name, "restart")), button(at.sure === one.name ? "Remove it now" : "Remove", () => acts.drop(one.name), "danger")),
    ),
    failed.map((part) =>
      h(
        "div",
        { class: "failure", role: "alert", "data-key": `failed ${part.task}` },
        h("strong", {}, `${part.task === null ? "The connector" : `Task ${part.task}`} has failed`),
        h("p", {}, part.reason),
        part.hint ? h("p", { class: "soft" }, part.hint) : null,
        part.trace ? h("details", {}, h("summary", {}, "Trace"), h("pre", {}, part.trace)) : null,
      ),
    ),
  );
}
