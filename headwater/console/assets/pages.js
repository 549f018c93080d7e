// Every page and its address, and the sections of the frame.

import * as application from "./pages/application.js";
import * as applications from "./pages/applications.js";
import * as edit from "./pages/edit.js";
import * as overview from "./pages/overview.js";
import * as pipeline from "./pages/pipeline.js";
import * as view from "./pages/view.js";
import * as views from "./pages/views.js";

export const PAGES = [
  [/^\/$/, overview],
  [/^\/pipelines\/([^/]+)$/, pipeline],
  [/^\/applications$/, applications],
  [/^\/applications\/([^/]+)$/, application],
  [/^\/applications\/([^/]+)\/edit$/, edit],
  [/^\/new$/, edit],
  [/^\/views$/, views],
  [/^\/views\/([^/]+)$/, view],
];

export const SECTIONS = [
  { name: "Overview", address: "/", key: "o", image: "overview", under: ["/console/pipelines/"] },
  { name: "Applications", address: "/console/applications", key: "a", image: "applications", under: ["/console/applications/", "/console/new"] },
  { name: "Views", address: "/console/views", key: "v", image: "views", under: ["/console/views/"] },
];
