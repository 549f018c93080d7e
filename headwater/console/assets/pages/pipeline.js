// One pipeline: its graph, where the time of its steps goes, its batches, and what a node is made of.

import { get, path, post } from "../api.js";
import { h, patch } from "../dom.js";
import { ago, number, plural, rate, seconds } from "../format.js";
import { graph } from "../graph.js";
import { busy, empty, failure, lagOf, sentence, state, truth } from "../parts.js";
import { bars, legend, lines } from "../steps.js";
import { node } from "./node.js";

export const title = (name) => name;

export async function show(place, { life, params: [name], query, go }) {
  const at = { chosen: query.get("node"), detail: null, verified: null, problem: null };
  let seen = null;
  const draw = () => seen && patch(place, page(name, seen, at, { choose, verify, turn }));
  const load = async () => {
    const [shown, recent] = await Promise.all([get(path("pipelines", name), life.signal), get(path("pipelines", name, "batches"), life.signal)]);
    seen = { shown, batches: recent.batches };
    if (at.chosen && shown.graph) at.detail = await get(path("pipelines", name, "nodes", at.chosen), life.signal).catch(keep);
    draw();
  };
  const keep = (problem) => {
    if (problem.name === "AbortError") throw problem;
    return { problem };
  };
  function choose(id) {
    at.chosen = at.chosen === id ? null : id;
    at.detail = null;
    const address = "/console" + path("pipelines", name);
    history.replaceState(null, "", at.chosen ? `${address}?node=${encodeURIComponent(at.chosen)}` : address);
    draw();
    // Who closes a node is at it again: what was in focus may be gone.
    if (!at.chosen) place.querySelector(`[data-node="${CSS.escape(id)}"]`)?.focus();
    return load();
  }
  const press = (event) => event.key === "Escape" && at.chosen && choose(at.chosen);
  document.addEventListener("keydown", press, { signal: life.signal });
  async function verify() {
    at.verified = { busy: true };
    draw();
    at.verified = await post(path("pipelines", name, "verify")).catch((problem) => ({ problem }));
    draw();
  }
  async function turn(what) {
    at.problem = null;
    await post(path("applications", name, "deployments", "latest", what)).catch((problem) => (at.problem = problem));
    await load();
  }
  await life.every(1000, load);
}

function page(name, { shown, batches }, at, acts) {
  const running = shown.status === "RUNNING";
  const open = at.chosen && at.detail;
  return h(
    "div",
    { class: "page" },
    head(name, shown, at, acts),
    at.problem ? failure(at.problem) : null,
    shown.status === "FAILED" && shown.error ? failure(shown.error) : null,
    Object.values(shown.stopped).map((message) => h("div", { class: "failure" }, sentence(message))),
    busy(shown.doing),
    verified(at.verified),
    h("section", { class: "panel", "aria-label": "Graph" }, shown.graph?.nodes.length ? h("div", { class: "graph-place" }, graph(shown.graph, { chosen: at.chosen, choose: acts.choose })) : waiting(shown, running)),
    h("div", { class: open ? "beside two turned" : "beside" }, open ? node(name, at.detail, () => acts.choose(at.chosen)) : null, h("div", { class: "column" }, steps(name, batches), reports(shown.reports, batches))),
  );
}

function head(name, shown, at, { verify, turn }) {
  const running = ["RUNNING", "INITIALIZING"].includes(shown.status);
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      { class: "titles" },
      h("div", { class: "title" }, h("h1", {}, name), state(shown.status)),
      h("p", { class: "soft" }, "True at ", truth(shown, Date.parse(shown.now)), ` · lag ${seconds(lagOf(shown))} · ${rate(shown.rows_per_second)} changes/s`),
    ),
    h(
      "div",
      { class: "actions" },
      shown.graph?.nodes.some((one) => one.id === "headwater.dead_letters") ? h("a", { class: "button", href: "/console" + path("pipelines", name, "letters") }, "Dead letters") : null,
      h("a", { class: "button", href: "/console" + path("applications", name) }, "Versions"),
      shown.status === "RUNNING" ? h("button", { class: "button", type: "button", onclick: verify, disabled: at.verified?.busy, title: "Recompute every result and compare" }, at.verified?.busy ? "Verifying…" : "Verify") : null,
      h("button", { class: "button", type: "button", onclick: () => turn(running ? "stop" : "resume") }, running ? "Stop" : "Resume"),
    ),
  );
}

function waiting(shown, running) {
  if (running || shown.status === "INITIALIZING") return empty("It is starting", h("p", {}, "Its graph is here as soon as its sources and sinks are open."));
  return empty("It does not run", h("p", {}, "Its State stays: resume it, and it goes on where it ended."));
}

/** What VERIFY found. */
function verified(found) {
  if (!found || found.busy) return null;
  if (found.problem) return failure(found.problem);
  if (found.is_equal) {
    return h("div", { class: "good-note", role: "status" }, h("b", {}, "True. "), `${plural(found.results.length, "result was", "results were")} recomputed from the tables at `, h("code", {}, found.cut), " and found equal, row by row.");
  }
  const wrong = found.results.filter((one) => !one.is_equal);
  return h("div", { class: "failure", role: "alert" }, h("strong", {}, `${plural(wrong.length, "result differs", "results differ")} from a recompute`), h("pre", {}, wrong.map((one) => one.text).join("\n")));
}

function steps(name, batches) {
  if (!batches.length) return null;
  return h(
    "section",
    { class: "panel", "aria-label": "Batches" },
    h("header", {}, h("h2", {}, "Batches"), legend(), h("a", { class: "small", href: "/console" + path("pipelines", name, "batches") }, "All batches")),
    h("div", { class: "inside" }, bars([...batches].reverse())),
    lines(batches.slice(0, 20)),
  );
}

const ONCE = ["spark", "fetch"];

/** What sources and sinks said: first rows that are read, what is waited for, what was noted. */
function reports(said, batches) {
  // What is computed anew is told when it begins, and is there with the next batch.
  const isDone = (one) => one.stage === "recompute" && batches.length && batches[0].done_at > one.at;
  const shown = said.filter((one) => !ONCE.includes(one.stage) && !isDone(one));
  if (!shown.length) return null;
  const rows = shown.map((one) => {
    const speed = [one.per_second ? `${rate(one.per_second)}/s` : null, one.seconds_left ? `${seconds(one.seconds_left)} left` : null].filter(Boolean).join(", ");
    const part = one.total && one.done < one.total ? h("div", { class: "meter" }, h("i", { style: { width: `${Math.min(100, (100 * one.done) / one.total)}%` } })) : null;
    const counted = one.total !== null || one.done ? `${number(one.done)}${one.total === null ? "" : ` of ${number(Math.max(one.total, one.done))}`}` : "";
    return h("tr", { "data-key": `${one.stage} ${one.subject}` }, h("td", {}, h("span", { class: "tag" }, one.stage)), h("td", { class: "wide" }, h("div", { class: "said" }, one.subject), part), h("td", { class: "number" }, counted, speed ? h("div", { class: "faint small" }, speed) : null), h("td", { class: "number soft", title: one.at }, ago(one.at)));
  });
  return h("section", { class: "panel", "aria-label": "Sources and sinks" }, h("header", {}, h("h2", {}, "Sources and sinks")), h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, rows))));
}
