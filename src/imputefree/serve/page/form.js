// The form of a row: a field per column, read into a body for /explain.

import { byId } from "./dom.js";
import { fieldsOf } from "./fields.js";

export class Part { // fields by column name
  constructor(fields, path) {
    this.fields = new Map(fields.map((field) => [field.column.name, field]));
    this.path = path;
  }

  // Values by column; wrong fields are marked and collected.
  read(wrong) {
    const values = {};
    for (const [name, field] of this.fields) {
      try {
        values[name] = field.read();
        field.say("");
      } catch (error) {
        field.say(error.message, true);
        wrong.push(field);
      }
    }
    return values;
  }

  write(values) {
    for (const [name, field] of this.fields) field.write(values?.[name]);
  }
}

export class RowForm {
  constructor(schema) {
    const fields = fieldsOf(schema.columns);
    this.part = new Part(fields, "");
    byId("fields").append(...fields.map((field) => field.element));
  }

  read() {
    const wrong = [];
    return { row: this.part.read(wrong), wrong };
  }

  write(row) { this.part.write(row); }

  field(path) { return this.part.fields.get(path); }

  focusOn(name) { this.part.fields.get(name).focus(); }

  // The value that was entered, in words.
  entered(name) { return ` = ${this.part.fields.get(name).text}`; }

  mark(name) {
    for (const field of this.part.fields.values()) field.element.classList.remove("best");
    this.part.fields.get(name)?.element.classList.add("best");
  }

  draw() {} // only series have charts
}
