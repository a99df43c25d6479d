// The form of a series: constant fields, charts, and a table with a column per step.

import { drawCharts } from "./charts.js";
import { breakable, byId, make } from "./dom.js";
import { Field, fieldsOf, hint } from "./fields.js";
import { Part } from "./form.js";

const MANY_STEPS = 10;

export class SeriesForm {
  constructor(schema) {
    const { time, static: fixed } = schema.series;
    this.schema = schema;
    this.time = time && { name: time.name, kind: "time", n_levels: 0 };
    const fields = fieldsOf(fixed);
    this.fixed = new Part(fields, "static.");
    this.steps = [];
    byId("fields").append(...fields.map((field) => field.element));
    byId("steps-part").hidden = false;
    const head = make("tr", {}, make("th", { scope: "col" }, time ? time.name : "step"));
    const rows = schema.columns.map((column) =>
      make("tr", {}, make("th", { scope: "row" }, ...breakable(column.name), " ",
        make("span", { class: "mark" }, "most useful next"),
        make("span", { class: "hint" }, hint(column)))));
    byId("steps").append(make("thead", {}, head), make("tbody", {}, ...rows));
    this.rows = [head, ...rows];
    this.add();
    byId("add-step").addEventListener("click", () => {
      this.add();
      this.focusLast();
      this.changed();
    });
    byId("remove-step").addEventListener("click", () => {
      this.remove();
      this.changed();
    });
    byId("steps").addEventListener("keydown", (event) => this.goDown(event));
  }

  changed() { byId("form").dispatchEvent(new Event("input", { bubbles: true })); }

  add() {
    const n = this.steps.length;
    const columns = [...(this.time ? [this.time] : []), ...this.schema.columns];
    const fields = columns.map((column) => new Field(column, `${column.name}, step ${n + 1}`));
    const step = new Part(fields, `steps[${n}].`);
    const head = this.time ? fields[0].element : String(n + 1);
    this.rows[0].append(make("td", {}, head));
    const values = this.time ? fields.slice(1) : fields;
    values.forEach((field, i) => this.rows[i + 1].append(make("td", {}, field.element)));
    if (this.time) {
      const before = this.steps.at(-1)?.fields.get(this.time.name);
      const last = before ? Number(before.text) : -this.schema.series.time.unit;
      const next = last + this.schema.series.time.unit;
      if (!before || (!before.blank && Number.isFinite(next))) fields[0].write(Number(next.toPrecision(6)));
    }
    this.steps.push(step);
    byId("remove-step").disabled = this.steps.length < 2;
  }

  remove() {
    if (this.steps.length < 2) return;
    this.steps.pop();
    for (const row of this.rows) row.lastElementChild.remove();
    byId("remove-step").disabled = this.steps.length < 2;
  }

  focusLast() {
    [...this.steps.at(-1).fields.values()][0].focus();
  }

  goDown(event) {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    const cell = event.target.closest("td");
    const below = this.rows[this.rows.indexOf(cell.parentElement) + 1];
    below?.children[cell.cellIndex].querySelector("input, select")?.focus();
  }

  read() {
    const wrong = [];
    const row = { steps: this.steps.map((step) => step.read(wrong)) };
    if (this.time && !wrong.length) this.checkTimes(row.steps, wrong);
    const fixed = this.fixed.read(wrong);
    if (this.fixed.fields.size) row.static = fixed;
    return { row, wrong };
  }

  // As the server does: every step has a time, later than the one before.
  checkTimes(steps, wrong) {
    const { name } = this.time;
    const times = steps.map((step) => step[name]);
    if (!this.schema.series.time.required && times.every((time) => time === null)) return;
    const order = (time) => (typeof time === "string" ? Date.parse(time) : time);
    times.forEach((time, i) => {
      const words = time === null ? `Every step needs its ${name}.`
        : i && times[i - 1] !== null && order(time) <= order(times[i - 1])
          ? "This is not later than the step before." : "";
      if (!words) return;
      const field = this.steps[i].fields.get(name);
      field.say(words, true);
      wrong.push(field);
    });
  }

  write(row) {
    const steps = row.steps ?? [{}];
    while (this.steps.length < steps.length) this.add();
    while (this.steps.length > steps.length) this.remove();
    this.steps.forEach((step, i) => step.write(steps[i]));
    if (this.time && !row.steps) this.steps[0].fields.get(this.time.name).write(0);
    this.fixed.write(row.static);
    if (steps.length > MANY_STEPS) byId("steps-edit").open = false; // the charts show them
  }

  field(path) {
    const part = [this.fixed, ...this.steps].find((each) => path.startsWith(each.path));
    return part?.fields.get(path.slice(part.path.length));
  }

  // The field of a static column, or of the column at the last step: what could be measured now.
  forColumn(name, step = -1) {
    return this.fixed.fields.get(name) ?? this.steps.at(step).fields.get(name);
  }

  focusOn(name, step = -1) {
    if (!this.fixed.fields.has(name)) byId("steps-edit").open = true;
    this.forColumn(name, step).focus();
  }

  entered(name) {
    if (this.fixed.fields.has(name)) return ` = ${this.fixed.fields.get(name).text}`;
    const count = this.steps.filter((step) => !step.fields.get(name).blank).length;
    return count > 1 ? ` (${count} values)` : " (1 value)";
  }

  mark(name) {
    const best = name === null ? null : this.forColumn(name);
    for (const part of [this.fixed, ...this.steps]) {
      for (const field of part.fields.values()) {
        field.element.classList.toggle("best", field.element === best?.element);
        field.element.closest("tr")?.classList.remove("best-row");
      }
    }
    best?.element.closest("tr")?.classList.add("best-row");
  }

  // Charts of a row as `read` gives it; effects: of single values by step, if known.
  draw(row, effects = null) {
    drawCharts(this.schema, row.steps, effects, (name, step) => this.focusOn(name, step));
  }
}
