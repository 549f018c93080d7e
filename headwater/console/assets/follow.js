// A view as it is and as it changes: rows by what names them, and what each batch did.

import { get, path, refusal } from "./api.js";
import { exact } from "./exact.js";

const MOST = 20_000;
const AGAIN = 2_000;

const same = (one, other) => one === other || (one !== null && other !== null && JSON.stringify(one) === JSON.stringify(other));

export class Followed {
  /** `told` hears of every batch, and when it is over, lost or goes on. */
  constructor(relation, told) {
    this.relation = relation;
    this.told = told;
    this.rows = new Map();
    this.changes = [];
    this.cut = null;
    this.batch = null;
    this.at = null;
    this.ended = null;
    this.lost = null;
    this.isCut = false;
    this.isBeginning = false;
    this.mark = null;
    this.version = 0;
    this.count = 0;
    this.events = null;
    this.waiting = 0;
  }

  /** Follow it while the page is looked at: a browser has few connections to one server, for all its pages. */
  start(signal) {
    const turn = () => {
      this.close();
      if (document.hidden || signal.aborted) return;
      if (this.ended) this.again(signal);
      else this.open(signal);
    };
    document.addEventListener("visibilitychange", turn, { signal });
    signal.addEventListener("abort", () => this.close());
    turn();
  }

  /** Rows that were asked for, in the place of all others; `next` is there if they are not all. */
  replace({ rows, cut, batch, at, next }) {
    this.rows = new Map(rows.map((row, index) => [index, { id: index, row, count: 1, fresh: {} }]));
    this.version += 1;
    this.isCut = next !== null;
    this.move({ cut, batch, at });
  }

  open(signal) {
    const address = `${path("views", this.relation.full_name)}/changes?${new URLSearchParams(this.mark === null ? { first: MOST + 1 } : { after: this.mark })}`;
    const events = new EventSource(address);
    this.events = events;
    events.addEventListener("open", () => this.goOn());
    events.addEventListener("changes", (event) => this.take(exact(event.data), event.lastEventId));
    events.addEventListener("cut", (event) => {
      this.mark = event.lastEventId;
      this.move(exact(event.data));
    });
    events.addEventListener("end", (event) => {
      this.close();
      this.ended = exact(event.data);
      this.told();
      this.again(signal);
    });
    events.addEventListener("gone", () => this.anew(signal));
    events.addEventListener("error", () => {
      // A browser tries again by itself, but not if it was refused, and it does not say why.
      if (events.readyState === EventSource.CLOSED) this.refused(address, signal);
      else this.lose(null);
    });
  }

  close() {
    this.events?.close();
    this.events = null;
    clearTimeout(this.waiting);
  }

  goOn() {
    if (!this.lost) return;
    this.lost = null;
    this.told();
  }

  lose(problem) {
    this.lost = problem ?? { message: "the server does not answer" };
    this.told();
  }

  anew(signal) {
    this.close();
    this.mark = null;
    if (!signal.aborted) this.open(signal);
  }

  async refused(address, signal) {
    this.close();
    try {
      const problem = await refusal(address, signal);
      // What came after the last batch that was told here is not kept any more.
      if (problem?.status === 410) return this.anew(signal);
      if (problem) this.lose(problem);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.lose(problem);
    }
    this.again(signal);
  }

  /** Look whether it goes on: the server is back, the pipeline was resumed, or another version of it runs. */
  again(signal) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(async () => {
      try {
        const [{ views }, { status }] = await Promise.all([get("/views", signal), get(path("pipelines", this.relation.application), signal)]);
        const found = views.find((one) => one.full_name === this.relation.full_name && one.kind === "view");
        if (found && status === "RUNNING") {
          [this.relation, this.ended] = [found, null];
          return this.open(signal);
        }
      } catch (problem) {
        if (problem.name === "AbortError") return;
        this.lose(problem);
      }
      if (!signal.aborted && !document.hidden) this.again(signal);
    }, AGAIN);
  }

  move({ cut, batch, at }) {
    [this.cut, this.batch, this.at, this.lost] = [cut, batch, at, null];
    this.told();
  }

  take({ cut, batch, at, anew, more, changes }, mark) {
    const now = Date.now();
    this.version += 1;
    if (anew) {
      this.rows.clear();
      [this.isBeginning, this.isCut] = [true, false];
    }
    const gone = [];
    for (const { op, row } of changes) if (op === "-") this.drop(row, gone);
    for (const { op, row } of changes) if (op === "+") this.add(row, gone, this.isBeginning ? 0 : now);
    for (const entry of gone) this.rows.set(`gone ${entry.id}`, { ...entry, gone: now });
    if (!this.isBeginning) this.remember(changes, cut, batch, now);
    if (more) return;
    [this.isBeginning, this.mark] = [false, mark];
    this.move({ cut, batch, at });
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
    for (const [name, entry] of this.rows) {
      if (!entry.gone || now - entry.gone <= 1500) continue;
      this.rows.delete(name);
      this.version += 1;
    }
    return [...this.rows.values()];
  }
}
