// What could not be read and was put aside: looked at, mended and sent once more, dropped.

import { get, path, post } from "../api.js";
import { h, patch } from "../dom.js";
import { number, plural } from "../format.js";
import { empty, failure } from "../parts.js";

export const title = (name) => `Dead letters of ${name}`;

export async function show(place, { life, params: [name] }) {
  const at = { seen: null, open: null, chosen: new Set(), problem: null, said: null, busy: false };
  const draw = () => at.seen && !life.signal.aborted && patch(place, page(name, at, acts));
  const load = async () => {
    at.seen = await get(path("pipelines", name, "dead-letters"), life.signal);
    const there = new Set(at.seen.letters.map((one) => one.letter));
    at.chosen = new Set([...at.chosen].filter((one) => there.has(one)));
    draw();
  };
  const act = async (work, said) => {
    Object.assign(at, { busy: true, problem: null, said: null });
    draw();
    try {
      await work();
      Object.assign(at, { said, open: null });
    } catch (problem) {
      at.problem = problem;
    }
    at.busy = false;
    await load().catch((problem) => problem.name === "AbortError" || Object.assign(at, { problem }));
    draw();
  };
  const acts = {
    open: (id) => {
      at.open = at.open === id ? null : id;
      draw();
    },
    choose: (id, isChosen) => {
      at.chosen[isChosen ? "add" : "delete"](id);
      draw();
    },
    drop: (letters) => act(() => post(path("pipelines", name, "dead-letters", "drop"), { letters }), `${plural(letters.length, "letter")} dropped.`),
    replay: (letter, value) => act(() => post(path("pipelines", name, "dead-letters", "replay"), { letter, value }), "Sent once more: it comes as a new message. The letter is dropped."),
  };
  await life.every(2000, load);
}

function page(name, at, acts) {
  const { letters, count, is_kept: isKept } = at.seen;
  const chosen = [...at.chosen];
  return h(
    "div",
    { class: "page" },
    h(
      "header",
      { class: "head" },
      h("div", { class: "titles" }, h("div", { class: "crumbs" }, h("a", { href: "/console" + path("pipelines", name) }, name), "/"), h("h1", {}, "Dead letters"), h("p", { class: "soft" }, isKept ? `${plural(count, "message or row", "messages or rows")} could not be read and ${count === 1 ? "was" : "were"} put aside.` : "Nothing is put aside here.")),
      letters.length ? h("div", { class: "actions" }, h("button", { class: "button danger", type: "button", disabled: at.busy || !chosen.length, onclick: () => acts.drop(chosen) }, chosen.length ? `Drop ${number(chosen.length)}` : "Drop")) : null,
    ),
    at.problem ? failure(at.problem) : null,
    at.said ? h("p", { class: "good-note", role: "status" }, at.said) : null,
    h("section", { class: "panel", "aria-label": "Letters" }, letters.length ? h("ul", { class: "things" }, letters.map((one) => letter(one, at, acts))) : none(isKept)),
    count > letters.length ? h("p", { class: "faint small" }, `The first ${number(letters.length)} are shown.`) : null,
  );
}

function none(isKept) {
  if (isKept) return empty("No dead letters", h("p", {}, "All that came could be read."));
  return empty("Nothing is put aside", h("p", {}, "By default what cannot be read stops its pipeline. A table with this option puts it aside and goes on:"), h("pre", {}, "'errors' = 'dead-letter'"));
}

function letter(one, at, acts) {
  const isOpen = at.open === one.letter;
  const where = one.topic ? `${one.topic} ${one.partition}:${number(one.offset)}` : `${one.column_name ?? ""} at ${one.position}`;
  return h(
    "li",
    { "data-key": one.letter },
    h(
      "div",
      { class: "thing" },
      h("input", { type: "checkbox", "aria-label": `Choose ${where}`, checked: at.chosen.has(one.letter), onchange: (event) => acts.choose(one.letter, event.target.checked) }),
      h("button", { class: "sort name", type: "button", "aria-expanded": String(isOpen), onclick: () => acts.open(one.letter) }, one.table_name),
      h("code", { class: "soft small" }, where),
      h("span", { class: "wide bad-text" }, one.error),
    ),
    isOpen ? opened(one, at, acts) : h("pre", { class: "one-line faint" }, one.value ?? "NULL"),
  );
}

function opened(one, at, acts) {
  const field = h("textarea", { class: "mono", rows: Math.min(16, (one.value ?? "").split("\n").length + 2), spellcheck: "false", "data-own": "", value: one.value ?? "", "aria-label": "Message", readonly: !one.can_replay });
  const submit = (event) => {
    event.preventDefault();
    const said = event.target.querySelector("textarea").value;
    acts.replay(one.letter, said === (one.value ?? "") ? null : said);
  };
  return h(
    "form",
    { class: "stack", onsubmit: submit },
    one.key === null ? null : h("p", { class: "small" }, h("span", { class: "faint" }, "key "), h("code", {}, one.key)),
    field,
    one.can_replay ? null : h("p", { class: "faint small" }, "This is a row of a database: mend it at its source, and the change comes by itself."),
    h("div", { class: "row" }, one.can_replay ? h("button", { class: "button main", type: "submit", disabled: at.busy, title: "Send the message to its topic once more, as it stands here" }, "Replay") : null, h("button", { class: "button danger", type: "button", disabled: at.busy, onclick: () => acts.drop([one.letter]) }, "Drop it")),
  );
}
