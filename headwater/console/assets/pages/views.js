// Everything that can be read now.

import { get, path } from "../api.js";
import { h, patch } from "../dom.js";
import { number } from "../format.js";
import { age, empty, filterOf, table } from "../parts.js";

export const title = () => "Views";

export function show(place, { life, go }) {
  let [views, filter] = [[], ""];
  const filtered = (said) => {
    filter = said;
    draw();
  };
  const draw = () => {
    const chosen = views.filter((one) => one.full_name.toLowerCase().includes(filter));
    patch(place, h("div", { class: "page" }, h("header", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Views"), h("p", { class: "soft" }, "Tables and views of everything that runs. A view is live: its rows change as the source does."))), h("section", { class: "panel" }, filterOf(views, "views", filtered), chosen.length ? listing(chosen, go) : views.length ? empty("No view matches") : nothing())));
  };
  return life.every(2000, async () => {
    ({ views } = await get("/views", life.signal));
    draw();
  });
}

function listing(views, go) {
  const sorted = [...views].sort((one, other) => one.application.localeCompare(other.application) || (one.kind === "view" ? 0 : 1) - (other.kind === "view" ? 0 : 1) || one.name.localeCompare(other.name));
  const rows = sorted.map((one) => {
    const address = "/console" + path("views", one.full_name);
    return h(
      "tr",
      { class: "opens", "data-key": one.full_name, onclick: (event) => event.target.closest("a") || go(address) },
      h("td", {}, h("a", { href: address, class: "name" }, one.name)),
      h("td", { "data-name": "Kind" }, h("span", { class: "tag" }, one.kind)),
      h("td", { "data-name": "Pipeline" }, h("a", { href: "/console" + path("pipelines", one.application) }, one.application)),
      h("td", { class: "soft columns", "data-name": "Columns" }, one.columns.map((column) => column.name).join(", ")),
      h("td", { "data-name": "True at" }, one.is_ready ? h("span", { class: "truth" }, h("code", {}, one.cut), h("span", { class: "faint" }, ` ${age(one.at)}`)) : h("span", { class: "state busy" }, "not whole yet")),
      h("td", { class: "number", "data-name": "Batch" }, number(one.batch)),
    );
  });
  return table([["Name"], ["Kind"], ["Pipeline"], ["Columns"], ["True at"], ["Batch", "number"]], rows, { class: "folds" });
}

const nothing = () => empty("Nothing runs that could be read", h("p", {}, "Deploy an application, and its views are here."), h("p", {}, h("a", { class: "button main", href: "/console/new" }, "New application")));
