// One application: its versions and what changed between them, its deployments, and what can be done with them.

import { get, path, post } from "../api.js";
import { diff } from "../diff.js";
import { h, patch } from "../dom.js";
import { ago, day, number, plural } from "../format.js";
import { failure, state, table } from "../parts.js";
import { how } from "./applications.js";

export const title = (name) => name;

export async function show(place, { life, params: [name], query }) {
  const at = { version: Number(query.get("version")) || null, problem: null, confirm: null, busy: false, whole: false };
  let seen = null;
  const draw = () => seen && !life.signal.aborted && patch(place, page(name, seen, at, acts));
  const load = async () => {
    const [shown, listed] = await Promise.all([get(path("applications", name), life.signal), get(path("applications", name, "deployments"), life.signal)]);
    seen = { ...shown, deployments: listed.deployments };
    draw();
  };
  const act = async (where, body) => {
    Object.assign(at, { problem: null, confirm: null, busy: true });
    draw();
    try {
      await post(path("applications", name, "deployments", ...where), body);
    } catch (problem) {
      at.problem = problem;
      // What a version does not keep is told; whoever means it says so.
      if (problem.status === 409 && body && "confirmed" in body) at.confirm = () => act(where, { ...body, confirmed: true });
    }
    at.busy = false;
    await load();
  };
  const acts = {
    look: (version) => {
      at.version = version;
      draw();
    },
    turnWhole: () => {
      at.whole = !at.whole;
      draw();
    },
    turn: (what) => act(["latest", what]),
    // Another version of what runs already runs like it: on the same schedule.
    deploy: (version) => act(seen.current_deployment ? ["rollback"] : [], { version_id: String(version), confirmed: false }),
    back: () => act(["rollback"], { confirmed: false }),
  };
  await life.every(2000, load);
}

function page(name, seen, at, acts) {
  const versions = [...seen.application_versions].reverse();
  const now = seen.current_deployment;
  const chosen = versions.find((one) => one.version === at.version) ?? versions[0];
  return h(
    "div",
    { class: "page" },
    head(name, seen, now, at, acts),
    at.problem ? h("div", { class: "stack" }, failure(at.problem), at.confirm ? h("div", {}, h("button", { class: "button danger", type: "button", onclick: at.confirm }, "Deploy it all the same")) : null) : null,
    now?.status === "FAILED" && now.error ? failure(now.error) : null,
    h("div", { class: "beside two" }, chosen ? text(chosen, versions, at.whole, acts.turnWhole) : missing(name), h("div", { class: "column" }, versions.length ? listed(versions, chosen, now, at, acts) : null, seen.deployments.length ? history(seen.deployments) : null)),
  );
}

function head(name, seen, now, at, acts) {
  const running = now && ["RUNNING", "INITIALIZING"].includes(now.status);
  const deployed = new Set(seen.deployments.map((one) => one.version));
  const button = (label, act, kind = "") => h("button", { class: `button ${kind}`, type: "button", disabled: at.busy, onclick: act }, label);
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      { class: "titles" },
      h("div", { class: "crumbs" }, h("a", { href: "/console/applications" }, "Applications"), "/"),
      h("div", { class: "title" }, h("h1", {}, name), state(now?.status)),
      h("p", { class: "soft" }, now ? ["Version ", String(now.version), ", ", how(now), now.next_run_at ? `, next ${day(now.next_run_at)}` : "", " · ", h("a", { href: "/console" + path("pipelines", name) }, "its pipeline")] : "not deployed yet"),
    ),
    h(
      "div",
      { class: "actions" },
      now ? button(running ? "Stop" : "Resume", () => acts.turn(running ? "stop" : "resume")) : null,
      deployed.size > 1 ? button("Roll back", acts.back) : null,
      running ? h("a", { class: "button", href: "/spark", target: "_blank", rel: "noopener", "data-outside": true }, "Spark’s own pages") : null,
      h("a", { class: "button main", href: "/console" + path("applications", name, "edit") }, "Edit SQL"),
    ),
  );
}

const missing = (name) => h("section", { class: "panel" }, h("div", { class: "empty" }, h("h2", {}, "It has no version yet"), h("p", {}, "A version is SQL that never changes."), h("a", { class: "button main", href: "/console" + path("applications", name, "edit") }, "Write the first one")));

/** All SQL of a version, in the order in which it is run. */
export const script = (version) => [...version.sources, ...version.sinks].map((one) => one.create_table.trim().replace(/;?$/, ";")).concat(version.statement.trim()).join("\n\n");

/** So many equal lines are shown before and after those that differ. */
const AROUND = 3;

/** Lines that differ and a few around them; what is left out is counted. */
function folded(lines) {
  const isNear = (index) => lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(([sign]) => sign !== " ");
  const shown = [];
  let left = 0;
  lines.forEach((line, index) => {
    if (!isNear(index)) left += 1;
    else {
      if (left) shown.push(["…", `${plural(left, "equal line")}`]);
      left = 0;
      shown.push(line);
    }
  });
  return left ? [...shown, ["…", `${plural(left, "equal line")}`]] : shown;
}

function text(version, versions, isWhole, turn) {
  const before = versions.find((one) => one.version === version.version - 1);
  const lines = before ? diff(script(before), script(version)) : script(version).split("\n").map((line) => [" ", line]);
  const changed = lines.filter(([sign]) => sign !== " ").length;
  return h(
    "section",
    { class: "panel", "aria-label": "SQL" },
    h("header", {}, h("h2", {}, `Version ${version.version}`), h("span", { class: "soft small" }, before ? (changed ? `${number(changed)} lines differ from version ${before.version}` : `the same as version ${before.version}`) : "the first one"), changed ? h("button", { class: "button", type: "button", "aria-pressed": String(isWhole), onclick: turn }, isWhole ? "Only changes" : "All lines") : null),
    h("pre", { class: "diff" }, (isWhole || !changed ? lines : folded(lines)).map(([sign, line]) => h("span", { class: sign === "+" ? "added" : sign === "-" ? "removed" : sign === "…" ? "left" : null }, `${before ? `${sign} ` : ""}${line}\n`))),
  );
}

function listed(versions, chosen, now, at, acts) {
  const rows = versions.map((one) =>
    h(
      "tr",
      { "data-key": one.id, class: one === chosen ? "chosen" : null },
      h("td", {}, h("button", { class: "sort name", type: "button", "aria-pressed": String(one === chosen), onclick: () => acts.look(one.version) }, `Version ${one.version}`), h("div", { class: "faint small", title: one.created_at }, `${ago(one.created_at)} by ${one.created_by}`)),
      h("td", { class: "number" }, now?.version === one.version ? h("span", { class: "tag" }, "deployed") : h("button", { class: "button", type: "button", disabled: at.busy, onclick: () => acts.deploy(one.version) }, "Deploy")),
    ),
  );
  return h("section", { class: "panel", "aria-label": "Versions" }, h("header", {}, h("h2", {}, "Versions")), h("table", {}, h("tbody", {}, rows)));
}

function history(deployments) {
  const rows = [...deployments].reverse().slice(0, 20).map((one) => h("tr", { "data-key": one.id }, h("td", {}, `Version ${one.version}`, h("div", { class: "faint small" }, how(one))), h("td", {}, state(one.status)), h("td", { class: "number soft", title: one.created_at }, ago(one.created_at))));
  return h("section", { class: "panel", "aria-label": "Deployments" }, h("header", {}, h("h2", {}, "Deployments")), table([["Version"], ["State"], ["Begun", "number"]], rows));
}
