// The batches of a pipeline: where each ends, what was in it, where its time went, and whether it was repeated.

import { get, path } from "../api.js";
import { h, patch } from "../dom.js";
import { plural, seconds } from "../format.js";
import { empty } from "../parts.js";
import { bars, legend, lines, total } from "../steps.js";

export const title = (name) => `Batches of ${name}`;

export async function show(place, { life, params: [name] }) {
  await life.every(1000, async () => {
    const { batches } = await get(`${path("pipelines", name, "batches")}?limit=100`, life.signal);
    patch(place, page(name, batches));
  });
}

function page(name, batches) {
  const repeats = batches.filter((one) => one.is_repeat).length;
  const took = batches.map(total).sort((one, other) => one - other);
  const said = batches.length ? [`The last ${plural(batches.length, "batch", "batches")}`, `half of the steps took ${seconds(took[Math.floor(took.length / 2)])} or less`, `the longest ${seconds(took.at(-1))}`, repeats ? `${plural(repeats, "was", "were")} repeated` : "none was repeated"].join(" · ") : "There is none yet.";
  return h(
    "div",
    { class: "page" },
    h("header", { class: "head" }, h("div", { class: "titles" }, h("div", { class: "crumbs" }, h("a", { href: "/console" + path("pipelines", name) }, name), "/"), h("h1", {}, "Batches"), h("p", { class: "soft" }, said))),
    h("section", { class: "panel", "aria-label": "Batches" }, h("header", {}, h("h2", {}, "Time by stop"), legend()), batches.length ? [h("div", { class: "inside" }, bars([...batches].reverse())), lines(batches)] : empty("No batch yet", h("p", {}, "A batch ends where transactions of the source do. The first one comes with the first rows."))),
  );
}
