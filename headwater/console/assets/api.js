// The server over HTTP. The console knows nothing that any other client could not ask.

import { exact } from "./exact.js";
import { clocks } from "./format.js";

export class Problem extends Error {
  constructor(status, said) {
    super(said?.message ?? "the server did not answer as expected");
    this.status = status;
    this.detail = said?.detail ?? "";
    this.hint = said?.hint ?? "";
    this.place = said?.place ?? null;
    this.mayCome = status === 0;
  }
}

/** Told when the server asks who we are. */
export const door = { needed: () => {} };

export const get = (path, signal) => ask("GET", path, { signal }).then(([said]) => said);

/** Rows, with all digits of their numbers. */
export const getRows = (path, signal) => ask("GET", path, { signal, read: exact }).then(([said]) => said);
export const post = (path, body = {}) => ask("POST", path, { body }).then(([said]) => said);
export const remove = (path) => ask("DELETE", path).then(([said]) => said);

/** What several may change: itself, and its mark; it is kept only if it still is what was seen. */
export const getMarked = (path, signal) => ask("GET", path, { signal });
export const putMarked = (path, body, mark) => ask("PUT", path, { body, headers: { "If-Match": mark } });

/** Why a stream of events is refused, null if it is not: who listens to one is not told. */
export async function refusal(where, signal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener("abort", end);
  try {
    await ask("GET", where, { signal: ending.signal, read: JSON.parse, isEndless: true });
    return null;
  } catch (problem) {
    if (problem instanceof Problem && problem.status) return problem;
    throw problem;
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** A path whose parts may hold anything. */
export const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

/** What is answered, and its mark if it has one. */
async function ask(method, where, { body, signal, headers = {}, read = JSON.parse, isEndless = false } = {}) {
  let answer;
  try {
    answer = await fetch(where, {
      method,
      signal,
      headers: { "Content-Type": "application/json", "X-Headwater-Console": "1", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch (broken) {
    if (broken.name === "AbortError") throw broken;
    throw new Problem(0, { message: "the server does not answer", hint: "Is it still running? The page tries again." });
  }
  clocks.compare(answer.headers.get("Date"));
  if (answer.ok && isEndless) return [null, null];
  const said = await answer
    .text()
    .then((given) => read(given))
    .catch(() => null);
  if (answer.ok) return [said, answer.headers.get("ETag")];
  if (answer.status === 401 && !where.startsWith("/console/")) {
    door.needed();
    throw new DOMException("a token is needed", "AbortError");
  }
  throw new Problem(answer.status, said?.error);
}
