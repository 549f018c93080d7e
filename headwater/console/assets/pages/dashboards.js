// All dashboards.

import { get, path } from "../api.js";
import { named } from "../chart.js";
import { h, patch } from "../dom.js";
import { plural } from "../format.js";
import { empty, failure } from "../parts.js";

export const title = () => "Dashboards";

export function show(place, { life }) {
  return life.every(5000, async () => {
    const { dashboards } = await get("/dashboards", life.signal);
    const cards = dashboards.map((one) => one.error ? h("section", { class: "panel tile", "data-key": one.name }, h("span", { class: "name" }, one.name), failure(one.error)) : h("a", { class: "panel tile", href: "/console" + path("dashboards", one.name), "data-key": one.name }, h("span", { class: "name" }, one.title || one.name), h("span", { class: "more" }, [plural(one.charts.length, "chart"), ...one.charts.map(named)].join(" · "))));
    const head = h("header", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Dashboards"), h("p", { class: "soft" }, "Charts that follow their views. Each dashboard is a file in the server's folder, fit for git.")));
    const none = h("section", { class: "panel" }, empty("No dashboard yet", h("p", {}, "Open a view, choose a chart, and add it to a dashboard."), h("p", {}, h("a", { class: "button main", href: "/console/views" }, "To the views"))));
    patch(place, h("div", { class: "page" }, head, cards.length ? h("div", { class: "tiles boards" }, cards) : none));
  });
}
