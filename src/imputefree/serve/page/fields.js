// One field of the form: made from a column, read as a JSON value, with a message below it.

import { figure, make } from "./dom.js";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const FEW_LEVELS = 15; // with more levels, a text field with suggestions
let count = 0;

export class Field {
  // label: null in a table, where the headers name the field
  constructor(column, name, label = null) {
    this.column = column;
    const id = `field-${count++}`;
    this.element = make("div", { class: "field" });
    const described = [`${id}-say`];
    if (label !== null) {
      const mark = make("span", { class: "mark" }, "most useful next");
      this.element.append(make("label", { for: id }, label), mark);
      if (hint(column)) described.unshift(`${id}-hint`);
    }
    this.input = input(column, id);
    this.input.setAttribute("aria-describedby", described.join(" "));
    if (label === null) this.input.setAttribute("aria-label", name);
    this.element.append(this.input);
    if (column.kind === "category" && this.input.tagName === "INPUT") {
      const levels = make("datalist", { id: `${id}-levels` });
      for (const level of column.levels) levels.append(make("option", { value: level }));
      this.input.setAttribute("list", levels.id);
      this.element.append(levels);
    }
    if (label !== null && hint(column)) {
      this.element.append(make("p", { class: "hint", id: `${id}-hint` }, hint(column)));
    }
    this.words = make("p", { class: "say", id: `${id}-say` });
    this.element.append(this.words);
  }

  get blank() {
    return this.input.value.trim() === "";
  }

  // The value to send; throws if it should be a number and is not.
  read() {
    const text = this.input.value.trim();
    if (text === "") return null;
    if (this.column.kind === "category") return this.input.value;
    const number = asNumber(text);
    if (number !== null) return number;
    if (this.column.kind === "time" && !Number.isNaN(Date.parse(text))) return text;
    const comma = /^[+-]?\d+,\d+$/.test(text);
    throw new Error(
      this.column.kind === "time"
        ? "This is not a number or a date such as 2024-05-31T14:00."
        : `This is not a number.${comma ? ` Write ${text.replace(",", ".")}.` : ""}`,
    );
  }

  write(value) {
    this.input.value = value === null || value === undefined ? "" : String(value);
  }

  say(text, wrong = false) {
    this.element.classList.toggle("wrong", wrong);
    if (wrong) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
    if (this.words.textContent !== text) this.words.textContent = text;
  }
}

export function asNumber(text) {
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? number : null;
}

export function hint(column) {
  const parts = [];
  if (column.kind === "number" && column.low !== null && column.low !== undefined) {
    const most = column.range_holds === "most" ? "mostly " : "";
    parts.push(`${most}${figure(column.low)} to ${figure(column.high)}`);
  }
  if (column.n_levels > FEW_LEVELS) parts.push(`${column.n_levels} levels`);
  if (column.missing) parts.push(`missing in ${Math.max(1, Math.round(100 * column.missing))} %`);
  return parts.join(" · ");
}

function input(column, id) {
  const few = column.kind === "category" && column.n_levels <= FEW_LEVELS;
  if (!few) {
    const mode = column.kind === "number" ? "decimal" : null;
    return make("input", { id, type: "text", inputmode: mode, spellcheck: "false" });
  }
  const select = make("select", { id }, make("option", { value: "" }, "(blank)"));
  for (const level of column.levels) select.append(make("option", { value: level }, level));
  return select;
}
