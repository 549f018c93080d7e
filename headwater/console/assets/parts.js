// Parts that several pages are made of.

import { h } from "./dom.js";
import { ago, seconds } from "./format.js";

/** What went wrong, with its hint. */
export function failure(problem) {
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("strong", {}, sentence(problem.message)),
    problem.detail ? h("p", {}, problem.detail) : null,
    problem.hint ? h("p", { class: "soft" }, problem.hint) : null,
  );
}

/** Nothing is here yet, and what to do about it. */
export function empty(title, ...more) {
  return h("div", { class: "empty" }, h("h2", {}, title), more);
}

const KINDS = { RUNNING: "ok", FINISHED: "calm", INITIALIZING: "busy", FAILED: "bad", CANCELED: "calm" };
const WORDS = { RUNNING: "running", FINISHED: "finished", INITIALIZING: "starting", FAILED: "failed", CANCELED: "stopped" };

/** The state of a deployment. */
export function state(status) {
  return h("span", { class: `state ${KINDS[status] ?? "calm"}` }, WORDS[status] ?? "not deployed");
}

/** The moment of the source at which what is shown is true, and how long ago that was seen. */
export function truth({ cut, batch_id: batch, last_batch_at: at }, now) {
  if (!cut) return h("span", { class: "faint" }, "–");
  const title = `batch ${batch}; the moment of each source up to which everything is known`;
  return h("span", { class: "truth", title }, h("code", {}, cut), h("span", { class: "faint" }, at ? ` ${ago(at, now)}` : ""));
}

const STOPS = { tables: "taking in rows", views: "computing", sinks: "writing", progress: "saving progress" };

/** What a step is busy with, if it takes longer than usual. */
export function busy(doing, patience = 3) {
  if (!doing || doing.seconds < patience) return null;
  return h(
    "p",
    { class: "busy-note", role: "status" },
    h("b", {}, doing.stop === "sinks" ? "sink" : doing.stop),
    doing.stop === "sinks" && doing.late?.length ? [" ", h("code", {}, doing.late.join(", ")), doing.late.length > 1 ? " are late:" : " is late:"] : null,
    ` ${STOPS[doing.stop] ?? doing.stop}${doing.what ? " " : ""}`,
    doing.what ? h("code", {}, doing.what) : null,
    ` for ${seconds(doing.seconds)}`,
  );
}

/** A text that starts with a capital letter. */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

/** A table with a head; cells are nodes or texts, numbers stand to the right. */
export function table(heads, rows, attributes = {}) {
  const head = heads.map(([name, kind]) => h("th", { class: kind ?? null, scope: "col" }, name));
  return h("div", { class: "scroll" }, h("table", attributes, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}
