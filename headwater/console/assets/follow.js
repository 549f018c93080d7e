// A view as it is and as it changes: rows by what names them, and what each batch did.

import { exact } from "./exact.js";

const MOST = 20_000;

const same = (one, other) => one === other || (one !== null && other !== null && JSON.stringify(one) === JSON.stringify(other));

export class Followed {
  /** `told` hears of every batch: { kind: "batch" | "end" | "lost" }. */
  constructor(relation, told) {
    this.relation = relation;
    this.told = told;
    this.rows = new Map();
    this.changes = [];
    this.cut = null;
    this.batch = null;
    this.at = null;
    this.ended = null;
    this.isCut = false;
    this.count = 0;
  }

  /** Follow it while the page is looked at: a browser has few connections to one server, for all its pages. */
  start(signal) {
    let events = document.hidden ? null : this.open(signal);
    const turn = () => {
      events?.close();
      events = document.hidden || this.ended || signal.aborted ? null : this.open(signal);
    };
    document.addEventListener("visibilitychange", turn, { signal });
  }

  /** Rows that were asked for, in the place of all others. */
  replace({ rows, cut, batch }) {
    this.rows = new Map(rows.map((row, index) => [index, { id: index, row, count: 1, fresh: {} }]));
    this.move({ cut, batch });
  }

  open(signal) {
    const events = new EventSource(`/views/${encodeURIComponent(this.relation.full_name)}/changes`);
    signal.addEventListener("abort", () => events.close());
    events.addEventListener("changes", (event) => this.take(exact(event.data)));
    events.addEventListener("cut", (event) => this.move(exact(event.data)));
    events.addEventListener("end", (event) => {
      events.close();
      this.ended = exact(event.data);
      this.told("end");
    });
    events.addEventListener("gone", () => {
      events.close();
      if (!signal.aborted) this.open(signal);
    });
    events.addEventListener("error", () => this.told("lost"));
    return events;
  }

  move({ cut, batch }) {
    [this.cut, this.batch, this.at] = [cut, batch, Date.now()];
    this.told("batch");
  }

  take({ cut, batch, anew, more, changes }) {
    const now = Date.now();
    if (anew) this.rows.clear();
    const gone = [];
    for (const { op, row } of changes) if (op === "-") this.drop(row, gone);
    for (const { op, row } of changes) if (op === "+") this.add(row, gone, anew ? 0 : now);
    for (const entry of gone) this.rows.set(`gone ${entry.id}`, { ...entry, gone: now });
    if (!anew) this.remember(changes, cut, batch, now);
    if (!more) this.move({ cut, batch });
  }

  drop(row, gone) {
    const name = JSON.stringify(row);
    const entry = this.rows.get(name);
    if (!entry) return;
    if (entry.count > 1) entry.count -= 1;
    else {
      this.rows.delete(name);
      gone.push(entry);
    }
  }

  add(row, gone, now) {
    const name = JSON.stringify(row);
    const equal = this.rows.get(name);
    if (equal) {
      equal.count += 1;
      equal.fresh = { all: now };
      return;
    }
    const former = this.former(row, gone);
    if (!former && this.rows.size >= MOST) {
      this.isCut = true;
      return;
    }
    const fresh = former ? {} : { all: now };
    if (former) for (const key of Object.keys(row)) fresh[key] = same(former.row[key], row[key]) ? former.fresh[key] : now;
    this.rows.set(name, { id: former?.id ?? this.count++, row, count: 1, fresh });
  }

  /** The row that went in the same batch and is most like one that came: an update is both. */
  former(row, gone) {
    const names = this.relation.columns.map((column) => column.name);
    const { key } = this.relation;
    const likeness = (entry) => {
      if (key.length) return key.every((name) => same(entry.row[name], row[name])) ? 1 : 0;
      const equal = names.filter((name) => same(entry.row[name], row[name])).length;
      return same(entry.row[names[0]], row[names[0]]) || equal * 2 >= names.length ? equal : 0;
    };
    let [best, most] = [-1, 0];
    gone.slice(0, 500).forEach((entry, index) => {
      const like = likeness(entry);
      if (like > most) [best, most] = [index, like];
    });
    return best < 0 ? null : gone.splice(best, 1)[0];
  }

  remember(changes, cut, batch, at) {
    this.changes.unshift(...changes.slice(-100).reverse().map((one) => ({ ...one, cut, batch, at })));
    this.changes.length = Math.min(this.changes.length, 100);
  }

  /** Rows that are, or just went; those that went long ago are forgotten. */
  shown(now) {
    for (const [name, entry] of this.rows) if (entry.gone && now - entry.gone > 1500) this.rows.delete(name);
    return [...this.rows.values()];
  }
}
