// Builds and updates the page. Values only ever become text nodes and attributes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: h("a", { href: "/", class: "x", onclick: f }, "text", [more]). */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function s(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) listen(element, name.slice(2), value);
    else if (name === "href") element.setAttribute("href", safe(String(value)));
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else if (name === "style") Object.entries(value).forEach(([key, said]) => element.style.setProperty(key, said));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Only places of this server, and what a page made itself. */
function safe(address) {
  // A browser takes /\ for //, and leaves out tabs and line ends before it looks.
  return /^(\/(?![/\\\s])|#|\?|blob:)/.test(address) ? address : "#";
}

/** Listeners stand beside the element, so that a patched one calls the newest. */
function listen(element, type, listener) {
  element.heard ??= {};
  if (!(type in element.heard)) element.addEventListener(type, (event) => element.heard[type]?.call(element, event));
  element.heard[type] = listener;
}

/** Makes the children of a place what they should be, and leaves alone what is right already. */
export function patch(place, ...wanted) {
  const parts = wanted.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  const nodes = parts.map((part) => (part instanceof Node ? part : document.createTextNode(String(part))));
  const keyed = new Map();
  for (const child of place.childNodes) if (child.dataset?.key) keyed.set(child.dataset.key, child);
  let at = place.firstChild;
  for (const node of nodes) {
    const former = (node.dataset?.key && keyed.get(node.dataset.key)) || at;
    if (former && alike(former, node)) {
      if (former !== at) place.insertBefore(former, at);
      else at = at.nextSibling;
      if (former !== node) become(former, node);
    } else place.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function alike(one, other) {
  return one.nodeName === other.nodeName && one.nodeType === other.nodeType && one.dataset?.key === other.dataset?.key;
}

function become(former, wanted) {
  if (former.nodeType === Node.TEXT_NODE) {
    if (former.data !== wanted.data) former.data = wanted.data;
    return;
  }
  if (former.dataset?.own !== undefined) return;
  // Whether details are open is the visitor's choice.
  for (const { name } of [...former.attributes]) if (!wanted.hasAttribute(name) && name !== "open") former.removeAttribute(name);
  for (const { name, value } of wanted.attributes) {
    if (former.getAttribute(name) === value) continue;
    // Text that becomes style is refused like text that becomes script; declarations are not text.
    if (name === "style") former.style.cssText = wanted.style.cssText;
    else former.setAttribute(name, value);
  }
  for (const type of Object.keys(former.heard ?? {})) if (!wanted.heard?.[type]) former.heard[type] = null;
  for (const [type, listener] of Object.entries(wanted.heard ?? {})) listen(former, type, listener);
  patch(former, ...wanted.childNodes);
}
