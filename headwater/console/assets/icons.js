// Small drawings, all strokes of one width.

import { s } from "./dom.js";

const PATHS = {
  overview: ["M3 12h4l3-8 4 16 3-8h4"],
  applications: ["M4 7l8-4 8 4-8 4-8-4z", "M4 12l8 4 8-4", "M4 17l8 4 8-4"],
  views: ["M4 5h16v14H4z", "M4 10h16", "M10 10v9"],
  dashboards: ["M4 4h7v9H4z", "M13 4h7v5h-7z", "M13 11h7v9h-7z", "M4 15h7v5H4z"],
  sql: ["M5 7l5 5-5 5", "M12 18h7"],
  sources: ["M4 6c0-4 16-4 16 0s-16 4-16 0z", "M4 6v12c0 4 16 4 16 0V6", "M4 12c0 4 16 4 16 0"],
  theme: ["M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z"],
  book: ["M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3z", "M5 17a3 3 0 0 1 3-3h11"],
  plus: ["M12 5v14", "M5 12h14"],
  close: ["M6 6l12 12", "M18 6L6 18"],
  check: ["M5 12l5 5 9-10"],
};

export function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, (PATHS[name] ?? []).map((d) => s("path", { d })));
}
