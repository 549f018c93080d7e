// The frame: which page is shown, the way between pages, keys, colours, and the door.

import { door, post } from "./api.js";
import { h, patch } from "./dom.js";
import { icon } from "./icons.js";
import { failure } from "./parts.js";
import { PAGES, SECTIONS } from "./pages.js";
import * as login from "./pages/login.js";

const main = h("main", { id: "main", tabindex: "-1" });
const side = h("aside", { class: "side" });
const trouble = h("div", { class: "trouble-note" });
let life = null;

/** What belongs to a page that is shown, and ends with it. */
class Life {
  constructor() {
    this.ending = new AbortController();
    this.signal = this.ending.signal;
  }

  /** Do something now, and again and again while the page is looked at. */
  every(milliseconds, work) {
    let timer = 0;
    let isFirst = true;
    const turn = async () => {
      clearTimeout(timer);
      if (this.signal.aborted) return;
      const begin = performance.now();
      try {
        if (!document.hidden) {
          await work();
          lose(null);
          isFirst = false;
        }
      } catch (problem) {
        if (problem.name === "AbortError" || this.signal.aborted) return;
        if (isFirst) patch(main, h("div", { class: "page" }, failure(problem)));
        else lose(problem);
      } finally {
        // A server that needs long for its answers has half of its time for others.
        if (!this.signal.aborted) timer = setTimeout(turn, Math.max(milliseconds, performance.now() - begin));
      }
    };
    document.addEventListener("visibilitychange", turn, { signal: this.signal });
    this.signal.addEventListener("abort", () => clearTimeout(timer));
    return turn();
  }
}

/** What is shown is not of now any more, and why; null if it is. */
function lose(problem) {
  patch(trouble, problem ? failure(problem) : null);
  main.classList.toggle("past", problem !== null);
}

/** Go to another page without loading everything again. */
export function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

function found() {
  const address = location.pathname.replace(/^\/console\/?/, "/");
  for (const [pattern, page] of PAGES) {
    const match = pattern.exec(address);
    if (match) return [page, match.slice(1).map(decoded)];
  }
  return [null, []];
}

/** A part of an address; one that somebody mistyped stays as it is. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function show() {
  await draw(() => {
    main.replaceChildren();
    window.scrollTo(0, 0);
  });
}

async function draw(clear) {
  life?.ending.abort();
  life = new Life();
  const mine = life;
  const [page, params] = found();
  drawSide();
  clear();
  lose(null);
  document.title = page ? `${page.title(...params)} · Headwater` : "Headwater";
  if (!page) {
    patch(main, h("div", { class: "page" }, h("h1", {}, "There is no such page"), h("p", {}, h("a", { href: "/" }, "To the overview"))));
    return;
  }
  try {
    await page.show(main, { life: mine, params, query: new URLSearchParams(location.search), go });
  } catch (problem) {
    if (problem.name === "AbortError" || mine.signal.aborted) return;
    patch(main, h("div", { class: "page" }, failure(problem)));
    // What is not there yet, or away, may come: the page is there with it.
    if (problem.mayCome) setTimeout(() => mine === life && draw(() => {}), 3000);
  }
}

function drawSide() {
  const here = location.pathname;
  const links = SECTIONS.map(({ name, address, key, image, under }) => {
    const current = here === address || under.some((start) => here.startsWith(start));
    return h("a", { href: address, class: "nav", "aria-current": current ? "page" : null, title: `${name} (g ${key})` }, icon(image), h("span", {}, name));
  });
  patch(
    side,
    h("a", { href: "/", class: "brand", "aria-label": "Headwater, overview" }, h("img", { src: "/console/assets/icon.svg", alt: "", width: 24, height: 24 }), h("span", {}, "Headwater")),
    h("nav", { "aria-label": "Pages" }, links),
    h(
      "div",
      { class: "foot" },
      passed() ? h("button", { class: "quiet", type: "button", onclick: leave, title: "Forget the token" }, icon("close"), h("span", {}, "Leave")) : null,
      h("button", { class: "quiet", type: "button", onclick: turnTheme, title: "Light or dark (t)" }, icon("theme"), h("span", {}, "Theme")),
      h("a", { href: "/docs", class: "nav", "data-outside": true }, icon("book"), h("span", {}, "API")),
    ),
  );
}

const DOOR = "headwater-door";

/** True if a token was given at the door; the browser keeps it where no script reads it. */
function passed() {
  try {
    return localStorage.getItem(DOOR) === "passed";
  } catch {
    return false;
  }
}

function mark(said) {
  try {
    localStorage.setItem(DOOR, said);
  } catch {
    // Then the way out is to close the browser.
  }
}

async function leave() {
  try {
    await post("/console/logout");
    mark("left");
    show();
  } catch (problem) {
    lose(problem);
  }
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("headwater-theme", root.dataset.theme);
  } catch {
    // Then it holds for this page only.
  }
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const address = new URL(link.href, location.href);
  const inside = address.origin === location.origin && (address.pathname === "/" || address.pathname.startsWith("/console/"));
  if (!inside || link.hasAttribute("download") || link.dataset.outside !== undefined) return;
  event.preventDefault();
  go(address.pathname + address.search);
  if (main.contains(link) || side.contains(link)) main.focus({ preventScroll: true });
}

let waiting = false;

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const section = waiting && SECTIONS.find(({ key }) => key === event.key);
  waiting = event.key === "g";
  if (section) go(section.address);
  else if (event.key === "t") turnTheme();
  else if (event.key === "/") {
    const search = main.querySelector("input[type=search], textarea");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
}

door.needed = () => {
  life?.ending.abort();
  document.body.classList.add("outside");
  login.show(main, {
    enter: async (token) => {
      await post("/console/login", { token });
      mark("passed");
      document.body.classList.remove("outside");
      show();
    },
  });
};

document.body.append(h("a", { class: "skip", href: "#main" }, "To the content"), side, main, trouble);
document.addEventListener("click", follow);
document.addEventListener("keydown", press);
addEventListener("popstate", show);
show();
