// The server over HTTP. The console knows nothing that any other client could not ask.

import { exact } from "./exact.js";

export class Problem extends Error {
  constructor(status, said) {
    super(said?.message ?? "the server did not answer as expected");
    this.status = status;
    this.detail = said?.detail ?? "";
    this.hint = said?.hint ?? "";
    this.place = said?.place ?? null;
  }
}

/** Told when the server asks who we are. */
export const door = { needed: () => {} };

export const get = (path, signal) => ask("GET", path, undefined, signal);

/** Rows, with all digits of their numbers. */
export const getRows = (path, signal) => ask("GET", path, undefined, signal, exact);
export const post = (path, body = {}) => ask("POST", path, body);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** A path whose parts may hold anything. */
export const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

async function ask(method, where, body, signal, read = JSON.parse) {
  let answer;
  try {
    answer = await fetch(where, {
      method,
      signal,
      headers: { "Content-Type": "application/json", "X-Headwater-Console": "1" },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch (broken) {
    if (broken.name === "AbortError") throw broken;
    throw new Problem(0, { message: "the server does not answer", hint: "Is it still running? The page tries again." });
  }
  const said = await answer
    .text()
    .then((given) => read(given))
    .catch(() => null);
  if (answer.ok) return said;
  if (answer.status === 401 && !where.startsWith("/console/")) {
    door.needed();
    throw new DOMException("a token is needed", "AbortError");
  }
  throw new Problem(answer.status, said?.error);
}
