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
export const WORDS = { RUNNING: "running", FINISHED: "finished", INITIALIZING: "starting", FAILED: "failed", CANCELED: "stopped" };

/** The state of a deployment. */
export function state(status) {
  return h("span", { class: `state ${KINDS[status] ?? "calm"}` }, WORDS[status] ?? "not deployed");
}

/** The moment of the source at which what is shown is true, and how long ago that was reached. */
export function truth({ cut, batch_id: batch, cut_at: at }, now) {
  if (!cut) return h("span", { class: "faint" }, "–");
  const title = `batch ${batch}; the moment of each source up to which everything is known`;
  return h("span", { class: "truth", title }, h("code", {}, cut), h("span", { class: "faint" }, ` ${age(at, now)}`));
}

/** How old a cut is; the server knows it of those that it reached itself. */
export const age = (at, now) => (at ? ago(at, now) : "from before the server started");

/** The time from a commit to its result; a step that takes long is late by that already. */
export const lagOf = ({ lag, doing }) => (doing && doing.seconds > Math.max(3, lag ?? 0) ? doing.seconds : lag);

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

/** From so many things on, those that are meant can be filtered. */
const MANY = 10;

/** The head of a listing with a field for a part of a name, if there are many. */
export function filterOf(things, name, filtered) {
  const label = `Filter ${name}`;
  return things.length > MANY ? h("header", {}, h("h2", {}, sentence(name)), h("input", { type: "search", placeholder: label, "aria-label": label, "data-own": "", oninput: (event) => filtered(event.target.value.toLowerCase()) })) : null;
}

/** A text that starts with a capital letter. */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

/** A table with a head; cells are nodes or texts, numbers stand to the right. */
export function table(heads, rows, attributes = {}) {
  const head = heads.map(([name, kind]) => h("th", { class: kind ?? null, scope: "col" }, name));
  return h("div", { class: "scroll" }, h("table", attributes, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}
