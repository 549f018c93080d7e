// A topic as it is written: the last messages, and each that comes.

import { path, refusal } from "../api.js";
import { h, patch } from "../dom.js";
import { exact, isNumber } from "../exact.js";
import { clock, number, plural } from "../format.js";
import { empty, failure } from "../parts.js";

export const title = (cluster, topic) => topic;

const MOST = 300;
const AGAIN = 2_000;
const OPS = { c: "came", r: "came", u: "changed", d: "went" };

export async function show(place, { life, params: [cluster, topic] }) {
  const at = { messages: [], count: 0, isLive: false, pauses: false, problem: null, filter: "" };
  let drawing = 0;
  const draw = () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => life.signal.aborted || patch(place, page(topic, at, acts)));
  };
  const acts = {
    pause: () => {
      at.pauses = !at.pauses;
      draw();
    },
    filter: (said) => {
      at.filter = said;
      draw();
    },
  };
  const address = path("kafka", cluster, "topics", topic, "messages");
  let events = null;
  let waiting = 0;
  const close = () => {
    clearTimeout(waiting);
    events?.close();
  };
  const again = async () => {
    // A browser tries again by itself, but not if it was refused, and it does not say why.
    if (events.readyState !== EventSource.CLOSED) return;
    at.problem = await refusal(address, life.signal).catch((problem) => problem);
    if (life.signal.aborted) return;
    draw();
    waiting = setTimeout(open, AGAIN);
  };
  const open = () => {
    if (document.hidden || life.signal.aborted) return;
    events = new EventSource(address);
    events.addEventListener("open", () => {
      // After a break the last messages are told again.
      Object.assign(at, { isLive: true, problem: null, messages: [] });
      draw();
    });
    events.addEventListener("message", (event) => {
      if (at.pauses) return;
      at.messages.unshift(JSON.parse(event.data));
      at.count += 1;
      at.messages.length = Math.min(at.messages.length, MOST);
      draw();
    });
    events.addEventListener("problem", (event) => {
      at.problem = JSON.parse(event.data).error;
      draw();
    });
    events.addEventListener("error", () => {
      at.isLive = false;
      draw();
      again();
    });
  };
  const turn = () => {
    close();
    open();
  };
  document.addEventListener("visibilitychange", turn, { signal: life.signal });
  life.signal.addEventListener("abort", close);
  open();
  draw();
}

function page(topic, at, acts) {
  const wanted = at.filter.toLowerCase();
  const shown = wanted ? at.messages.filter((one) => `${one.key} ${one.value}`.toLowerCase().includes(wanted)) : at.messages;
  return h(
    "div",
    { class: "page" },
    h(
      "header",
      { class: "head" },
      h("div", { class: "titles" }, h("div", { class: "crumbs" }, h("a", { href: "/console/sources" }, "Sources"), "/ topic"), h("div", { class: "title" }, h("h1", {}, topic), at.isLive && !at.pauses ? h("span", { class: "state ok" }, "live") : h("span", { class: "state busy" }, at.pauses ? "held" : "connecting")), h("p", { class: "soft" }, `${plural(at.count, "message")} since this page was opened; the newest stand first.`)),
      h("div", { class: "actions" }, h("input", { type: "search", placeholder: "Filter messages", "aria-label": "Filter messages", "data-own": "", oninput: (event) => acts.filter(event.target.value) }), h("button", { class: "button", type: "button", "aria-pressed": String(at.pauses), onclick: acts.pause }, at.pauses ? "Go on" : "Hold")),
    ),
    at.problem ? failure(at.problem) : null,
    h("section", { class: "panel", "aria-label": "Messages" }, shown.length ? h("ol", { class: "messages" }, shown.map(message)) : empty(wanted ? "No message matches" : at.isLive ? "No message yet" : "Connecting", h("p", {}, wanted ? "Of the last ones, that is." : "Each stands here as it is written."))),
  );
}

function message(one) {
  const seen = event(one.value);
  return h(
    "li",
    { "data-key": `message ${one.partition} ${one.offset}`, class: seen ? OPS[seen.op] : null },
    h("span", { class: "faint small mono" }, `${one.partition}:${number(one.offset)}`),
    h("div", { class: "said" }, seen ? h("b", { class: "tag" }, seen.op) : null, one.key === null ? null : h("code", { class: "soft" }, `${one.key} `), h("code", {}, one.value === null ? "tombstone" : seen ? seen.text : one.value), seen ? h("details", {}, h("summary", {}, "whole message"), h("pre", {}, one.value)) : null),
    h("time", { class: "faint small", title: one.at }, clock(one.at)),
  );
}

/** What Debezium tells: the row before and after, with what changed. */
function event(text) {
  let said;
  try {
    said = exact(text);
  } catch {
    return null;
  }
  const payload = said?.payload ?? said;
  if (!payload || typeof payload !== "object" || !(payload.op in OPS)) return null;
  const { before, after, op } = payload;
  const row = after ?? before ?? {};
  const fields = Object.entries(row).map(([name, value]) => (op === "u" && before && written(before[name]) !== written(value) ? `${name}=${written(before[name])} → ${written(value)}` : `${name}=${written(value)}`));
  return { op, text: fields.join(", ") };
}

/** A value as JSON, a number with all its digits. */
const written = (value) => (isNumber(value) ? String(value) : JSON.stringify(value));
