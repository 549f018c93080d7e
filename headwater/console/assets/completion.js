// Words that complete what is being typed: shown below it, taken with Enter or Tab.

import { h, patch } from "./dom.js";

const MOST = 8;
const PART = /[\w$]+$/;
const BEFORE = /([\w$`.]+)\.([\w$]*)$/;

/** `known()` gives { word, kind, of } for everything that may be meant; `of` is the relation that a column is of. */
export class Completion {
  constructor(area, known, taken) {
    [this.area, this.known, this.taken] = [area, known, taken];
    this.found = [];
    this.chosen = 0;
    this.list = h("ul", { class: "completion", role: "listbox", "aria-label": "Completions", id: `completion-${Math.random().toString(36).slice(2)}`, hidden: true });
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-controls", this.list.id);
    area.addEventListener("blur", () => this.close());
  }

  get isOpen() {
    return this.found.length > 0;
  }

  /** Look for what could be meant before the cursor; with `isAsked` also where nothing was typed yet. */
  look(isAsked = false) {
    const { selectionStart: end, selectionEnd, value } = this.area;
    const line = value.slice(value.lastIndexOf("\n", end - 1) + 1, end);
    const dotted = BEFORE.exec(line);
    const typed = dotted ? dotted[2] : (PART.exec(line)?.[0] ?? "");
    const isInside = /^[\w$]/.test(value.slice(end)) || end !== selectionEnd || /--|(^[^']*('[^']*'[^']*)*'[^']*$)/.test(line);
    this.from = end - typed.length;
    const found = isInside || (!isAsked && !dotted && typed.length < 2) ? [] : this.matching(typed, dotted?.[1].replaceAll("`", ""));
    this.found = found.length === 1 && found[0].word === typed ? [] : found;
    this.chosen = 0;
    this.draw();
  }

  matching(typed, relation) {
    const start = typed.toLowerCase();
    const all = this.known();
    const inside = relation ? all.filter((one) => one.of?.some((name) => name.toLowerCase() === relation.toLowerCase())) : all;
    const fits = inside.filter(({ word }) => word.toLowerCase().startsWith(start));
    return [...new Map(fits.map((one) => [one.word, one])).values()].slice(0, MOST);
  }

  /** True if a key was meant for the list. */
  press(event) {
    if (event.key === " " && event.ctrlKey) {
      this.look(true);
      event.preventDefault();
      return true;
    }
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") this.move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) this.take(this.chosen);
    else if (event.key === "Escape") this.close();
    else {
      if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") this.close();
      return false;
    }
    event.preventDefault();
    return true;
  }

  move(step) {
    this.chosen = (this.chosen + step + this.found.length) % this.found.length;
    this.draw();
  }

  take(index) {
    const { word } = this.found[index];
    this.area.setRangeText(word, this.from, this.area.selectionEnd, "end");
    this.close();
    this.taken();
  }

  close() {
    this.found = [];
    this.draw();
  }

  draw() {
    this.list.hidden = !this.isOpen;
    this.area.setAttribute("aria-expanded", String(this.isOpen));
    if (!this.isOpen) {
      this.area.removeAttribute("aria-activedescendant");
      return;
    }
    const name = (index) => `${this.list.id}-${index}`;
    this.area.setAttribute("aria-activedescendant", name(this.chosen));
    const choose = (index) => (event) => {
      event.preventDefault();
      this.take(index);
    };
    patch(
      this.list,
      this.found.map((one, index) => h("li", { id: name(index), role: "option", "aria-selected": String(index === this.chosen), onmousedown: choose(index) }, h("span", {}, one.word), h("span", { class: "faint" }, one.kind))),
    );
    this.place();
  }

  /** Below the line in which the cursor is; all letters are of one width. */
  place() {
    const before = this.area.value.slice(0, this.from);
    const line = before.split("\n").length;
    const column = this.from - before.lastIndexOf("\n") - 1;
    const style = getComputedStyle(this.area);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const left = parseFloat(style.paddingLeft) + column * pen.measureText("m").width - this.area.scrollLeft;
    const top = parseFloat(style.paddingTop) + line * parseFloat(style.lineHeight) - this.area.scrollTop;
    this.list.style.setProperty("left", `${Math.max(0, Math.min(left, this.area.clientWidth - 240))}px`);
    this.list.style.setProperty("top", `${top + 2}px`);
  }
}

/** Names in a text, for which there is no other list. */
export const namesIn = (text) => [...new Set(text.replace(/--[^\n]*|'[^']*'/g, " ").match(/[A-Za-z_][\w$]{2,}/g) ?? [])];
