// One field of the form: made from a column, read as a JSON value, with a message below it.

import { figure, make } from "./dom.js";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const FEW_LEVELS = 15; // with more levels, a text field with suggestions
const BUTTONS = 4; // with so few values, a button for each
const BUTTON_LETTERS = 24; // on all of them
let count = 0;

export class Field {
  // label: null in a table, where the headers name the field
  constructor(column, name, label = null) {
    this.column = column;
    const id = `field-${count++}`;
    const words = hint(column);
    this.words = make("p", { class: "say", id: `${id}-say` });
    const described = { "aria-describedby": words && label !== null ? `${id}-hint ${id}-say` : `${id}-say` };
    const mark = make("span", { class: "mark" }, "most useful next");
    const options = choices(column);
    if (label !== null && fitOnButtons(options)) {
      this.control = new Buttons(id, options, column.truth ? { 0: "0 (no)", 1: "1 (yes)" } : {});
      this.element = make("fieldset", { class: "field", ...described }, make("legend", {}, label, mark), this.control.element);
    } else {
      this.control = options && options.length <= FEW_LEVELS && column.kind === "category"
        ? new List(id, options) : new Line(id, column);
      const attributes = label === null ? { ...described, "aria-label": name } : described;
      for (const [key, value] of Object.entries(attributes)) this.control.input.setAttribute(key, value);
      const labels = label === null ? [] : [make("label", { for: id }, label), mark];
      this.element = make("div", { class: "field" }, ...labels, this.control.element);
    }
    if (label !== null && words) this.element.append(make("p", { class: "hint", id: `${id}-hint` }, words));
    this.element.append(this.words);
  }

  get text() { return this.control.value; }

  get blank() { return this.text.trim() === ""; }

  focus() { this.control.input.focus(); }

  // The value to send; throws if it should be a number and is not.
  read() {
    const text = this.text.trim();
    if (text === "") return null;
    if (this.column.kind === "category") return this.text;
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
    this.control.value = value === null || value === undefined ? "" : String(value);
  }

  say(text, wrong = false) {
    this.element.classList.toggle("wrong", wrong);
    if (wrong) this.control.input.setAttribute("aria-invalid", "true");
    else this.control.input.removeAttribute("aria-invalid");
    if (this.words.textContent !== text) this.words.textContent = text;
  }
}

// What a column can be, if that is little: its levels, or the few numbers of training.
function choices(column) {
  if (column.kind === "number" && column.values) return column.values.map(String);
  return column.kind === "category" && column.n_levels <= FEW_LEVELS ? column.levels : null;
}

function fitOnButtons(options) {
  return options && options.length > 0 && options.length <= BUTTONS
    && options.join("").length <= BUTTON_LETTERS;
}

// What a blank is called beside these choices.
function blankAmong(options) { return options.includes("unknown") ? "not given" : "unknown"; }

class Buttons { // radio buttons side by side; "unknown" is a choice like others
  constructor(name, options, words) { // words: of choices that are called otherwise
    this.name = name;
    this.element = make("div", { class: "choices" });
    this.add("", blankAmong(options));
    for (const option of options) this.add(option, words[option] ?? option);
    this.value = "";
  }

  add(value, words) {
    const radio = make("input", { type: "radio", name: this.name, value });
    const label = make("label", {}, radio, make("span", {}, words));
    this.element.insertBefore(label, value === "" ? null : this.element.lastElementChild);
  }

  get radios() { return [...this.element.querySelectorAll("input")]; }

  get input() { return this.radios.find((radio) => radio.checked); } // where the focus goes

  get value() { return this.input.value; }

  set value(text) {
    if (!this.radios.some((radio) => radio.value === text)) this.add(text, text); // from a file
    this.radios.find((radio) => radio.value === text).checked = true;
  }
}

class List {
  constructor(id, options) {
    this.input = this.element = make("select", { id }, make("option", { value: "" }, blankAmong(options)));
    for (const option of options) this.input.append(make("option", { value: option }, option));
  }

  get value() { return this.input.value; }

  set value(text) {
    if (![...this.input.options].some((option) => option.value === text)) {
      this.input.append(make("option", { value: text }, text));
    }
    this.input.value = text;
  }
}

class Line { // of text, with suggestions for a category
  constructor(id, column) {
    const mode = column.kind === "number" ? "decimal" : null;
    this.input = this.element = make("input", { id, type: "text", inputmode: mode, spellcheck: "false" });
    if (column.kind !== "category") return;
    const levels = make("datalist", { id: `${id}-levels` });
    for (const level of column.levels) levels.append(make("option", { value: level }));
    this.input.setAttribute("list", levels.id);
    this.element = make("div", {}, this.input, levels);
  }

  get value() { return this.input.value; }

  set value(text) { this.input.value = text; }
}

export function asNumber(text) {
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? number : null;
}

// What training saw.
export function hint(column) {
  const parts = [];
  const few = fitOnButtons(choices(column));
  if (!few && column.kind === "number" && column.low !== null && column.low !== undefined) {
    parts.push(`${figure(column.low)} to ${figure(column.high)} ${column.unit ?? ""}`.trim());
  }
  if (column.n_levels > FEW_LEVELS) parts.push(`${column.n_levels} levels`);
  if (column.missing) {
    const share = 100 * column.missing;
    parts.push(`missing in ${share < 1 ? "<1" : Math.round(share)}\u00a0%`);
  }
  return parts.join(" · ");
}
