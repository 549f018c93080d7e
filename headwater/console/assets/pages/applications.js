// All applications, and what of each runs.

import { get, path } from "../api.js";
import { h, patch } from "../dom.js";
import { ago } from "../format.js";
import { icon } from "../icons.js";
import { empty, filterOf, sentence, state, table } from "../parts.js";

export const title = () => "Applications";

export function show(place, { life, go }) {
  let [applications, filter] = [[], ""];
  const filtered = (said) => {
    filter = said;
    draw();
  };
  const draw = () => {
    const chosen = applications.filter((one) => one.name.toLowerCase().includes(filter));
    const add = h("a", { class: "button main", href: "/console/new" }, icon("plus"), "New application");
    patch(
      place,
      h(
        "div",
        { class: "page" },
        h("header", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Applications"), h("p", { class: "soft" }, "A name, its versions, and the one that runs.")), h("div", { class: "actions" }, add)),
        h("section", { class: "panel" }, filterOf(applications, "applications", filtered), chosen.length ? listing(chosen, go) : applications.length ? empty("No application matches") : empty("No application yet", h("p", {}, "Write its SQL here; nothing runs before you deploy it."), h("p", {}, h("a", { class: "button main", href: "/console/new" }, "New application")))),
      ),
    );
  };
  return life.every(2000, async () => {
    ({ applications } = await get("/applications", life.signal));
    draw();
  });
}

function listing(applications, go) {
  const rows = applications.map((one) => {
    const address = "/console" + path("applications", one.name);
    const now = one.current_deployment;
    return h(
      "tr",
      { class: "opens", "data-key": one.id, onclick: (event) => event.target.closest("a") || go(address) },
      h("td", {}, h("a", { href: address, class: "name" }, one.name)),
      h("td", { "data-name": "State" }, state(now?.status)),
      h("td", { class: "number", "data-name": "Version" }, now ? String(now.version) : "–"),
      h("td", { "data-name": "Runs" }, how(now)),
      h("td", { class: "soft", "data-name": "Deployed" }, now ? ago(now.created_at) : "never"),
      h("td", { class: "soft wide", "data-name": now?.error ? "Problem" : null }, sentence(now?.error?.message ?? "")),
    );
  });
  return table([["Name"], ["State"], ["Version", "number"], ["Runs"], ["Deployed"], [""]], rows, { class: "folds" });
}

/** How a deployment runs. */
export function how(deployment) {
  if (!deployment) return "–";
  if (deployment.mode !== "schedule") return deployment.mode === "once" ? "once" : "all the time";
  return deployment.every ? `every ${deployment.every}` : h("span", {}, "at ", h("code", {}, deployment.cron), " UTC");
}
