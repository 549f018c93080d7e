// Every page and its address, and the sections of the frame.

import * as application from "./pages/application.js";
import * as applications from "./pages/applications.js";
import * as batches from "./pages/batches.js";
import * as dashboard from "./pages/dashboard.js";
import * as dashboards from "./pages/dashboards.js";
import * as edit from "./pages/edit.js";
import * as letters from "./pages/letters.js";
import * as overview from "./pages/overview.js";
import * as pipeline from "./pages/pipeline.js";
import * as sources from "./pages/sources.js";
import * as sql from "./pages/sql.js";
import * as topic from "./pages/topic.js";
import * as view from "./pages/view.js";
import * as views from "./pages/views.js";

export const PAGES = [
  [/^\/$/, overview],
  [/^\/pipelines\/([^/]+)$/, pipeline],
  [/^\/pipelines\/([^/]+)\/batches$/, batches],
  [/^\/pipelines\/([^/]+)\/letters$/, letters],
  [/^\/sources$/, sources],
  [/^\/sources\/([^/]+)\/([^/]+)$/, topic],
  [/^\/applications$/, applications],
  [/^\/applications\/([^/]+)$/, application],
  [/^\/applications\/([^/]+)\/edit$/, edit],
  [/^\/new$/, edit],
  [/^\/dashboards$/, dashboards],
  [/^\/dashboards\/([^/]+)$/, dashboard],
  [/^\/sql$/, sql],
  [/^\/views$/, views],
  [/^\/views\/([^/]+)$/, view],
];

export const SECTIONS = [
  { name: "Overview", address: "/", key: "o", image: "overview", under: ["/console/pipelines/"] },
  { name: "Applications", address: "/console/applications", key: "a", image: "applications", under: ["/console/applications/", "/console/new"] },
  { name: "Sources", address: "/console/sources", key: "c", image: "sources", under: ["/console/sources/"] },
  { name: "Views", address: "/console/views", key: "v", image: "views", under: ["/console/views/"] },
  { name: "Dashboards", address: "/console/dashboards", key: "d", image: "dashboards", under: ["/console/dashboards/"] },
  { name: "SQL", address: "/console/sql", key: "s", image: "sql", under: [] },
];
