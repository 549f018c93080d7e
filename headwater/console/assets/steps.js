// Steps drawn: where the time of each went, as bars and as lines.

import { h, s } from "./dom.js";
import { ago, clock, number, seconds } from "./format.js";
import { table } from "./parts.js";

const STOPS = ["read", "tables", "views", "sinks", "progress"];

export const legend = () => h("div", { class: "legend" }, STOPS.map((stop) => h("span", {}, h("i", { class: stop }), stop)));

export const lines = (batches) => table([["Batch"], ["Done"], ["True at"], ["Rows", "number"], ["Lag", "number"], ["Time by stop"], ["Step", "number"]], batches.map(line), { class: "folds" });

export const total = (batch) => Object.values(batch.seconds).reduce((sum, value) => sum + value, 0);

function line(batch) {
  const whole = total(batch) || 1;
  const slowest = STOPS.filter((stop) => batch.seconds[stop]).sort((one, other) => batch.seconds[other] - batch.seconds[one])[0];
  const parts = STOPS.map((stop) => h("i", { class: stop, title: `${stop} ${seconds(batch.seconds[stop] ?? 0)}`, style: { width: `${(100 * (batch.seconds[stop] ?? 0)) / whole}%` } }));
  return h(
    "tr",
    { "data-key": `batch ${batch.batch_id}` },
    h("td", { "data-name": "Batch" }, h("span", { class: "together" }, number(batch.batch_id), batch.is_repeat ? h("span", { class: "tag warn", title: "It broke off after its end was written down, and was done once more; sinks take it once" }, "repeated") : null)),
    h("td", { title: batch.done_at, "data-name": "Done" }, h("span", { class: "together" }, clock(batch.done_at), h("span", { class: "faint" }, ` ${ago(batch.done_at)}`))),
    h("td", { "data-name": "True at" }, h("code", {}, batch.cut)),
    h("td", { class: "number", "data-name": "Rows" }, number(batch.rows)),
    h("td", { class: "number", "data-name": "Lag" }, seconds(batch.lag)),
    h("td", { "data-name": "Time by stop" }, h("div", { class: "split", title: slowest ? `most of it: ${slowest}` : null }, parts)),
    h("td", { class: "number", "data-name": "Step" }, seconds(total(batch))),
  );
}

/** The last steps as bars of their stops. */
export function bars(batches) {
  const [wide, high] = [1000, 90];
  const top = Math.max(...batches.map(total)) || 1;
  const step = wide / Math.max(batches.length, 30);
  return s(
    "svg",
    { class: "bars", viewBox: `0 0 ${wide} ${high}`, width: "100%", height: high, preserveAspectRatio: "none", role: "img", "aria-label": `The last ${batches.length} steps, the longest ${seconds(top)}` },
    batches.map((batch, index) => {
      let below = 0;
      return STOPS.map((stop) => {
        const tall = ((batch.seconds[stop] ?? 0) / top) * (high - 4);
        below += tall;
        return s("rect", { class: stop, x: (index * step + 1).toFixed(1), y: (high - below).toFixed(2), width: Math.max(1, step - 3).toFixed(1), height: tall.toFixed(2) }, s("title", {}, `batch ${batch.batch_id}: ${stop} ${seconds(batch.seconds[stop] ?? 0)}`));
      });
    }),
  );
}
