// JSON whose numbers stay what they are: one that JavaScript would round, or write otherwise, is kept as its digits.

export function exact(text) {
  return JSON.parse(text, (key, value, context) => (typeof value === "number" && context && String(value) !== context.source ? new Digits(context.source) : value));
}

/** A number by its digits: 10.50, 9007199254740993. */
class Digits extends String {
  valueOf() {
    return this.toString();
  }
}

export const isNumber = (value) => typeof value === "number" || value instanceof Digits;

const FLOATING = /^(float|double)$/i;

/** A value as it is shown; a decimal has the digits of its type, a floating number those it needs. */
export function text(value, type = "") {
  if (value === null || value === undefined) return "NULL";
  if (value instanceof Digits) return grouped(FLOATING.test(type) ? value.toString().replace(/\.0$/, "") : value.toString());
  if (typeof value === "number") return grouped(String(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A value where many stand: nobody reads a megabyte in a cell, and drawing it takes long. */
export function brief(value, type, most = 400) {
  const whole = text(value, type);
  return whole.length > most ? `${whole.slice(0, most)}… (${grouped(String(whole.length))} letters)` : whole;
}

function grouped(digits) {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(digits);
  return match ? match[1] + match[2].replace(/\B(?=(\d{3})+$)/g, ",") + (match[3] ?? "") : digits;
}

const order = new Intl.Collator("en", { numeric: true });

/** Which of two values comes first. */
export function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other);
  return order.compare(text(one), text(other));
}
