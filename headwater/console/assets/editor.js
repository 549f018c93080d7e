// A field for SQL: colours behind the letters, and what is wrong underlined where it stands.

import { Completion, namesIn } from "./completion.js";
import { h, patch } from "./dom.js";

const WORDS =
  "ADD ALL ALTER AND ANY AS ASC BEGIN BETWEEN BY CASE CAST CATALOG CREATE CROSS CURRENT DATABASE DELETE DESC DESCRIBE DISTINCT DROP ELSE END ENFORCED EXCEPT EXECUTE EXISTS EXPLAIN FALSE FOLLOWING FROM FULL FUNCTION GROUP HAVING IF IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN KEY LATERAL LEFT LIKE LIMIT MATERIALIZED METADATA NOT NULL OFFSET ON OR ORDER OUTER OVER PARTITION PRECEDING PRIMARY QUALIFY RESET RIGHT ROW ROWS SELECT SEMI SET SHOW STATEMENT TABLE TABLES TEMPORARY THEN TRUE UNION UNNEST USE USING VALUES VERIFY VIEW VIEWS WATERMARK WHEN WHERE WINDOW WITH";
const TYPES = "BIGINT BOOLEAN BYTES CHAR DATE DECIMAL DOUBLE FLOAT INT INTEGER NUMERIC SMALLINT STRING TIME TIMESTAMP TINYINT VARCHAR ARRAY MAP";
const KEYWORDS = new Set([...WORDS.split(" "), ...TYPES.split(" ")]);
const SUGGESTED = [...KEYWORDS].sort().map((word) => ({ word, kind: "SQL" }));
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|(`[^`]*`?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_][\w$]*)|([\s\S])/g;

export class Editor {
  /** `known` gives the relations and columns that may be meant; without it, names that stand in the text already. */
  constructor(text, changed, known = null) {
    this.back = h("pre", { class: "behind", "aria-hidden": "true" });
    this.lines = h("pre", { class: "lines", "aria-hidden": "true" });
    this.area = h("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-label": "SQL", value: text, oninput: () => this.typed(), onkeydown: (event) => this.press(event), onscroll: () => this.scroll() });
    this.completion = new Completion(this.area, () => [...(known ? known() : this.names()), ...SUGGESTED], () => this.changed());
    this.node = h("div", { class: "editor", "data-own": "" }, this.lines, h("div", { class: "paper" }, this.back, this.area, this.completion.list));
    this.tell = changed;
    this.place = null;
    this.leaves = false;
    this.draw();
  }

  /** What a page draws: the field itself once, then a mark for it, as one that is moved forgets where somebody typed. */
  get shown() {
    return this.node.isConnected ? h("div", { class: "editor", "data-own": "" }) : this.node;
  }

  get text() {
    return this.area.value;
  }

  typed() {
    this.changed();
    this.completion.look();
  }

  /** What the text itself names, but for the word at the cursor, which may not be whole. */
  names() {
    const end = this.area.selectionStart;
    const others = this.text.slice(0, end).replace(/[\w$]+$/, "") + this.text.slice(end);
    return namesIn(others).filter((word) => !KEYWORDS.has(word.toUpperCase())).map((word) => ({ word, kind: "name" }));
  }

  changed() {
    this.place = null;
    this.draw();
    this.tell();
  }

  /** Underline what is wrong; a place has a line, a column and a width. */
  mark(place) {
    this.place = place;
    this.draw();
    if (!place) return;
    const start = this.offset(place);
    this.area.focus();
    this.area.setSelectionRange(start, start);
  }

  offset({ line, column }) {
    const before = this.text.split("\n").slice(0, line - 1);
    return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  }

  press(event) {
    if (this.completion.press(event)) return;
    // Escape, then Tab, leaves the field: nobody is caught in it who has only keys.
    if (event.key !== "Tab") this.leaves = event.key === "Escape";
    if (event.key !== "Tab" || event.shiftKey || this.leaves) return;
    event.preventDefault();
    this.area.setRangeText("  ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.changed();
  }

  scroll() {
    this.back.scrollTop = this.area.scrollTop;
    this.back.scrollLeft = this.area.scrollLeft;
    this.lines.scrollTop = this.area.scrollTop;
  }

  draw() {
    const [from, to] = this.place ? [this.offset(this.place), this.offset(this.place) + Math.max(1, this.place.width ?? 1)] : [-1, -1];
    const parts = [];
    let at = 0;
    for (const [whole, comment, quoted, named, digits, word] of this.text.matchAll(TOKEN)) {
      const kind = comment ? "comment" : quoted ? "quoted" : named ? "named" : digits ? "digits" : word && KEYWORDS.has(word.toUpperCase()) ? "word" : null;
      const isWrong = at < to && at + whole.length > from;
      const classes = [kind, isWrong && "wrong"].filter(Boolean).join(" ");
      if (classes) parts.push(h("span", { class: classes }, whole));
      else if (typeof parts.at(-1) === "string") parts[parts.length - 1] += whole;
      else parts.push(whole);
      at += whole.length;
    }
    patch(this.back, parts, "\n");
    const count = this.text.split("\n").length;
    patch(this.lines, Array.from({ length: count }, (_, index) => h("span", { class: this.place?.line === index + 1 ? "wrong" : null }, `${index + 1}\n`)));
    this.scroll();
  }
}
