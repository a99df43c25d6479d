// Lines of a CSV file as rows, or series, for /predict; wrong lines are reported.

import { asNumber } from "./fields.js";

const TRUTH = { true: 1, false: 0 };

// -> {names, records: [{line, cells, row} or {line, cells, error}], notes}; a record is a line, or a
// series of lines.
export function records(lines, schema) {
  if (lines.length < 2) throw new Error("There must be a line of column names and at least one more line.");
  const names = lines[0].map((name) => name.trim());
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`There are two columns named ${twice}.`);
  const series = schema.series;
  const wanted = [...schema.columns, ...(series ? series.static : [])];
  const place = new Map(wanted.map((column) => [column.name, names.indexOf(column.name)]));
  const lacking = wanted.filter((column) => place.get(column.name) < 0).map((column) => column.name);
  if (lacking.length === wanted.length) {
    throw new Error(`None of the model's columns is in the file. They are ${short(wanted.map((column) => column.name))}.`);
  }
  const roles = series ? [series.id, series.time?.name] : [];
  const known = new Set([...place.keys(), ...roles]);
  const unused = names.filter((name) => !known.has(name));
  const notes = [];
  if (lacking.length) notes.push(`Not in the file, so they count as missing: ${short(lacking)}.`);
  if (unused.length) notes.push(`Not used by the model: ${short(unused)}.`);
  const reader = { names, place, notes, gaps: new Set(schema.missing_words) };
  return { names, notes, records: (series ? seriesOf : rowsOf)(lines, reader, schema) };
}

function rowsOf(lines, reader, schema) {
  return lines.slice(1).map((cells, i) => {
    try {
      return { line: i + 2, cells, row: values(cells, reader, schema.columns) };
    } catch (error) {
      return { line: i + 2, cells, error: error.message };
    }
  });
}

function values(cells, reader, columns) {
  if (cells.length > reader.names.length) {
    throw new Error(`It has ${cells.length} cells for ${reader.names.length} columns.`);
  }
  const row = {};
  for (const column of columns) {
    const at = reader.place.get(column.name);
    if (at >= 0) row[column.name] = value(cells[at] ?? "", column, reader.gaps);
  }
  return row;
}

function value(cell, column, gaps) {
  const text = cell.trim();
  if (text === "") return null;
  if (column.kind === "category") return cell;
  if (gaps.has(text)) return null;
  const number = asNumber(text) ?? TRUTH[text.toLowerCase()];
  if (number === undefined) throw new Error(`${column.name} holds “${text.slice(0, 40)}”, which is not a number.`);
  return number;
}

function seriesOf(lines, reader, schema) {
  const { id, time, static: fixed } = schema.series;
  const idAt = id === null ? -1 : reader.names.indexOf(id);
  const timeAt = time ? reader.names.indexOf(time.name) : -1;
  if (id !== null && idAt < 0) throw new Error(`There is no column ${id}, which identifies the series.`);
  if (time?.required && timeAt < 0) throw new Error(`There is no column ${time.name}, which gives the time.`);
  if (id === null) reader.notes.push("The model has no id column, so all lines are one series.");
  const groups = new Map();
  lines.slice(1).forEach((cells, i) => {
    const key = idAt < 0 ? "" : (cells[idAt] ?? "").trim();
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push({ line: i + 2, cells });
  });
  return [...groups].map(([key, group]) => {
    const about = { line: group[0].line, id: key, cells: [key] };
    try {
      if (idAt >= 0 && key === "") throw new Error(`Line ${group[0].line} has no ${id}.`);
      return { ...about, row: oneSeries(group, reader, schema, timeAt, fixed) };
    } catch (error) {
      return { ...about, error: error.message };
    }
  });
}

function oneSeries(group, reader, schema, timeAt, fixed) {
  const steps = group.map(({ line, cells }) => {
    try {
      const step = values(cells, reader, schema.columns);
      if (timeAt >= 0) step[schema.series.time.name] = when(cells[timeAt] ?? "");
      return { step, constants: values(cells, reader, fixed) };
    } catch (error) {
      throw new Error(`Line ${line}: ${error.message}`);
    }
  });
  if (timeAt >= 0) {
    const name = schema.series.time.name;
    const order = (time) => (typeof time === "string" ? Date.parse(time) : time);
    steps.sort((a, b) => order(a.step[name]) - order(b.step[name]));
    const same = steps.find(({ step }, i) => i && order(step[name]) === order(steps[i - 1].step[name]));
    if (same) throw new Error(`It has two lines at ${name} ${same.step[name]}.`);
  }
  const known = {};
  for (const { constants } of steps) {
    for (const [name, constant] of Object.entries(constants)) {
      if (constant === null) continue;
      if (known[name] !== undefined && known[name] !== constant) {
        throw new Error(`${name} has the values ${known[name]} and ${constant}, but it must not change.`);
      }
      known[name] = constant;
    }
  }
  const row = { steps: steps.map(({ step }) => step) };
  return fixed.length ? { static: known, ...row } : row;
}

function when(cell) {
  const text = cell.trim();
  if (text === "") throw new Error("It has no time.");
  const number = asNumber(text);
  if (number !== null) return number;
  if (Number.isNaN(Date.parse(text))) throw new Error(`“${text.slice(0, 40)}” is not a time.`);
  return text.replace(" ", "T");
}

export function short(names, limit = 8) {
  const more = names.length - limit;
  return names.slice(0, limit).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
