// The door of a server that others can reach: its token is asked for, and kept by the browser where no script reads it.

import { h, patch } from "../dom.js";
import { failure } from "../parts.js";

export function show(place, { enter }) {
  const draw = (problem) => {
    const token = h("input", { type: "password", name: "token", required: true, autocomplete: "current-password", autofocus: true });
    const submit = async (event) => {
      event.preventDefault();
      try {
        await enter(token.value);
      } catch {
        draw({ message: "this token is not known", hint: "Ask who started the server; a token that may only read is enough to look." });
      }
    };
    place.replaceChildren();
    patch(
      place,
      h(
        "div",
        { class: "door" },
        h(
          "form",
          { class: "panel", onsubmit: submit },
          h("div", { class: "sheet" }, h("h1", {}, "Who is there?"), h("p", { class: "soft" }, "This server asks for a token."), problem ? failure(problem) : null, h("label", { class: "field" }, "Token", token), h("button", { class: "button main", type: "submit" }, "Enter")),
        ),
      ),
    );
    token.focus();
  };
  draw(null);
}
