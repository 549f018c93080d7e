// Where everything comes from: how far each source is read, what its database keeps for us, topics, connectors.

import { get, path } from "../api.js";
import { h, patch } from "../dom.js";
import { ago, bytes, number, plural, rate, seconds } from "../format.js";
import { empty, table } from "../parts.js";
import { connectors } from "./connectors.js";

export const title = () => "Sources";

export async function show(place, { life, go }) {
  const at = { sources: null, clusters: [], connect: null };
  const draw = () => at.sources && !life.signal.aborted && patch(place, page(at, shown, go));
  const shown = connectors(life, draw);
  const beside = life.every(10_000, async () => {
    const { clusters } = await get("/kafka", life.signal);
    at.clusters = await Promise.all(clusters.map(async (one) => ({ ...one, ...(await get(path("kafka", one.name, "topics"), life.signal).catch(kept)) })));
    draw();
  });
  await life.every(2000, async () => {
    at.sources = (await get("/sources", life.signal)).sources;
    draw();
  });
  await beside;
}

function kept(problem) {
  if (problem.name === "AbortError") throw problem;
  return { topics: [], problem };
}

function page(at, shown, go) {
  return h(
    "div",
    { class: "page" },
    h("header", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Sources"), h("p", { class: "soft" }, "Where the rows come from, how far each source is read, and what its database keeps until then."))),
    at.sources.length ? at.sources.map(source) : h("section", { class: "panel" }, empty("Nothing is read now", h("p", {}, "The sources of every pipeline that runs stand here."), h("p", {}, h("a", { class: "button main", href: "/console/new" }, "New application")))),
    at.clusters.map((one) => cluster(one, go)),
    shown.draw(),
  );
}

function source(one) {
  return h(
    "section",
    { class: "panel", "data-key": `${one.application} ${one.source}`, "aria-label": `Source ${one.source}` },
    h("header", {}, h("h2", {}, h("a", { href: "/console" + path("pipelines", one.application), class: "name" }, one.application)), h("span", { class: "tag" }, one.connector), h("code", { class: "soft small" }, one.source.replace(`${one.connector} `, ""))),
    h("div", { class: "inside measures" }, measures(one)),
    tables(one.tables),
  );
}

const measure = (name, value, more) => h("div", { class: "measure" }, h("span", { class: "what" }, name), h("span", { class: "value" }, value), more ?? null);

function measures(one) {
  const { retained } = one;
  const basic = [measure("Read up to", one.position ? h("code", {}, one.position) : "–"), measure("Lag", seconds(one.lag), h("span", { class: "faint small" }, "of its last batch"))];
  if (!retained) return basic;
  const share = retained.limit ? retained.kept / retained.limit : null;
  const allowed = retained.limit ? `${bytes(retained.limit)} allowed, then ${retained.action === "drop-slot" ? "the slot is dropped" : "a warning"}` : "no limit is set";
  return [
    ...basic,
    measure("Slot", h("code", {}, retained.slot), h("span", { class: `state ${["reserved", "extended"].includes(retained.status) ? "ok" : "bad"}` }, retained.status)),
    measure("Slot lag", bytes(retained.behind), h("span", { class: "faint small" }, "written, not yet durably read")),
    measure("Retained WAL", bytes(retained.kept), [share === null ? null : h("div", { class: share > 0.8 ? "meter high" : "meter" }, h("i", { style: { width: `${Math.min(100, Math.round(100 * share))}%` } })), h("span", { class: "faint small" }, allowed)]),
  ];
}

function tables(all) {
  const rows = all.map((one) =>
    h(
      "tr",
      { "data-key": one.name },
      h("td", {}, h("span", { class: "name" }, one.name)),
      h("td", { "data-name": "First rows" }, snapshot(one)),
      h("td", { "data-name": "Last event" }, one.last_event ? h("span", { title: one.last_event.at }, ago(one.last_event.at), h("span", { class: "faint" }, ` ${plural(one.last_event.rows, "row")}, batch ${number(one.last_event.batch_id)}`)) : h("span", { class: "faint" }, "none lately")),
      h("td", { "data-name": "Columns" }, columns(one)),
    ),
  );
  return table([["Table"], ["First rows"], ["Last event"], ["Columns, by version"]], rows, { class: "folds" });
}

function snapshot({ snapshot: seen, is_whole: whole }) {
  if (whole) return h("span", { class: "state ok" }, "all read");
  if (!seen) return h("span", { class: "state busy" }, "on the way");
  const speed = [seen.per_second ? `${rate(seen.per_second)}/s` : null, seen.seconds_left ? `${seconds(seen.seconds_left)} left` : null].filter(Boolean).join(", ");
  const part = seen.total ? Math.min(100, Math.round((100 * seen.rows) / seen.total)) : 0;
  return h("div", { class: "coming" }, h("span", {}, `${number(seen.rows)}${seen.total ? ` of ${number(seen.total)}` : ""}`), h("div", { class: "meter" }, h("i", { style: { width: `${part}%` } })), speed ? h("span", { class: "faint small" }, speed) : null);
}

/** The columns as they are, and how each version of the application declared them. */
function columns({ columns: now, versions }) {
  const said = `${plural(now.length, "column")}${versions.length > 1 ? `, ${plural(versions.length, "version")}` : ""}`;
  const told = versions.filter((one) => one.columns.length);
  const lines = now.map((one) => h("li", {}, h("code", {}, one.name), h("span", { class: "faint" }, ` ${one.type}`)));
  const before = told.length > 1 ? [...told].reverse().map((one, index) => h("li", { "data-key": `version ${one.version}` }, h("b", {}, `Version ${one.version}`), ` ${difference(one.columns, told[told.length - 2 - index]?.columns)}`)) : [];
  return h("details", {}, h("summary", {}, said), h("ul", { class: "plain-list small" }, lines), before.length ? h("ul", { class: "plain-list small" }, before) : null);
}

function difference(now, before) {
  if (!before) return now.join(", ");
  const [come, gone] = [now.filter((one) => !before.includes(one)), before.filter((one) => !now.includes(one))];
  return [come.length ? `came: ${come.join(", ")}` : null, gone.length ? `went: ${gone.join(", ")}` : null].filter(Boolean).join("; ") || "another order";
}

function cluster(one, go) {
  const rows = one.topics.map((topic) => {
    const address = "/console/sources" + path(one.name, topic.topic);
    return h("tr", { class: "opens", "data-key": topic.topic, onclick: (event) => event.target.closest("a") || go(address) }, h("td", {}, h("a", { href: address, class: "name" }, topic.topic)), h("td", { class: "number", "data-name": "Partitions" }, number(topic.partitions)), h("td", { class: "number", "data-name": "Messages" }, number(topic.messages)));
  });
  return h(
    "section",
    { class: "panel", "data-key": `cluster ${one.name}`, "aria-label": `Topics of ${one.servers}` },
    h("header", {}, h("h2", {}, "Kafka topics"), h("code", { class: "soft small" }, one.servers)),
    one.problem ? h("div", { class: "inside" }, h("p", { class: "failure" }, one.problem.message)) : null,
    rows.length ? table([["Topic"], ["Partitions", "number"], ["Messages, about", "number"]], rows, { class: "folds" }) : one.problem ? null : empty("The cluster has no topic"),
  );
}
