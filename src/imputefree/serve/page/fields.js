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

// The fields of columns: one each, but one for all parts of a date, which each part reads.
export function fieldsOf(columns) {
  const dates = new Map();
  for (const column of columns.filter((other) => other.date?.part === "days")) {
    dates.set(column.date.name, new DateField(column));
  }
  return columns.map((column) => {
    const date = dates.get(column.date?.name);
    return date ? new DatePart(column, date) : new Field(column, column.name, column.name);
  });
}

const DAY = 86400000; // milliseconds

// The date so many days after the first one.
export function dayText(column, count) {
  return new Date(Date.parse(column.date.since) + count * DAY).toISOString().slice(0, 10);
}

class DateField extends Field { // column: the days since a first one
  constructor(column) {
    const timed = ![column.low, column.high].every((day) => Number.isInteger(day ?? 0));
    const since = Date.parse(column.date.since);
    const day = (count) => dayText(column, count);
    const seen = column.low === null ? {} : { unit: `${day(column.low)} to ${day(column.high)}`, low: null };
    super({ ...column, kind: timed ? "datetime-local" : "date", values: null, ...seen }, column.date.name, column.date.name);
    Object.assign(this, { since, timed });
  }

  read(part) {
    const time = Date.parse(this.timed ? `${this.text}Z` : this.text);
    if (this.blank || Number.isNaN(time)) return null;
    const date = new Date(time);
    if (part === "month") return date.getUTCMonth() + 1;
    return part === "weekday" ? (date.getUTCDay() + 6) % 7 : (time - this.since) / DAY;
  }

  write(days) {
    const known = days !== null && days !== undefined;
    const text = known ? new Date(this.since + days * DAY).toISOString() : "";
    super.write(text.slice(0, this.timed ? 16 : 10));
  }
}

class DatePart { // what a form takes for the field of a column
  constructor(column, date) { Object.assign(this, { column, date }); }

  get element() { return this.date.element; }

  get text() { // its own part, in words
    const { part } = this.column.date;
    if (this.blank || part === "days") return this.date.text;
    const names = { month: { month: "long" }, weekday: { weekday: "long" } };
    return new Date(this.date.text.slice(0, 10)).toLocaleDateString("en", { ...names[part], timeZone: "UTC" });
  }

  get blank() { return this.date.blank; }

  focus() { this.date.focus(); }

  read() { return this.date.read(this.column.date.part); }

  write(value) { if (this.column.date.part === "days") this.date.write(value); }

  say(text, wrong) { if (text || this.column.date.part === "days") this.date.say(text, wrong); }
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
    const type = column.kind.startsWith("date") ? column.kind : "text";
    this.input = this.element = make("input", { id, type, inputmode: mode, spellcheck: "false" });
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
  if (column.kind.startsWith("date") && column.unit) parts.push(column.unit);
  if (column.n_levels > FEW_LEVELS) parts.push(`${column.n_levels} levels`);
  if (column.missing) {
    const share = 100 * column.missing;
    parts.push(`missing in ${share < 1 ? "<1" : Math.round(share)}\u00a0%`);
  }
  return parts.join(" · ");
}
