// Numbers, times and sizes as people read them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const some = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** 12345.678 → 12,345.68 */
export const number = (value) => (value === null || value === undefined ? "–" : Number.isInteger(value) ? whole.format(value) : some.format(value));

/** A rate: 0.03, 4.2, 310, 12,000 */
export function rate(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (value < 0.095) return "<0.1";
  return value < 10 ? value.toFixed(1) : whole.format(value);
}

/** 0.0123 → 12 ms; 3.21 → 3.2 s; 400 → 6 min 40 s */
export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 59.95) return `${value.toFixed(1)} s`;
  const rounded = Math.round(value);
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  if (rounded < 86400) return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
  return `${Math.floor(rounded / 86400)} d ${Math.floor((rounded % 86400) / 3600)} h`;
}

/** The server's clock, as ages are of its moments: that of a browser may be wrong. */
export const clocks = {
  apart: 0,
  compare(said) {
    const apart = Date.parse(said ?? "") - Date.now();
    // The header has whole seconds, and took a while to come.
    if (!Number.isNaN(apart)) this.apart = Math.abs(apart) > 3000 ? apart : 0;
  },
  now() {
    return Date.now() + this.apart;
  },
};

/** The time since a moment: just now, 12 s ago, 3 h ago */
export function ago(moment, now = clocks.now()) {
  if (!moment) return "never";
  const passed = (now - Date.parse(moment)) / 1000;
  if (passed < 1.5) return "just now";
  if (passed < 60) return `${Math.round(passed)} s ago`;
  if (passed < 3600) return `${Math.round(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} d ago`;
}

/** A moment in the reader's own zone: 14:03:22 */
export const clock = (moment) => (moment ? new Date(moment).toLocaleTimeString([], { hourCycle: "h23" }) : "–");

/** A moment with its day. */
export const day = (moment) => (moment ? new Date(moment).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" }) : "–");

/** 1536 → 1.5 KB */
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  const shown = value / 1024 ** power;
  return `${power === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${units[power]}`;
}

export const plural = (count, one, many = one + "s") => `${number(count)} ${count === 1 ? one : many}`;
