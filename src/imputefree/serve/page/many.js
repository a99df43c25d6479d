// Predictions for all lines of a CSV file: requested in parts, shown as a table, offered as a file.

import { ask } from "./ask.js";
import { parse, write } from "./csv.js";
import { byId, figure, make, percent } from "./dom.js";
import { records } from "./records.js";

const SHOWN = 50; // lines of the table; the file has all of them
const PIECE = 500; // rows, or steps, per request

export function startMany(schema) {
  const { series } = schema;
  byId("many-hint").textContent = series
    ? `One line per step${series.id ? `, with ${series.id}` : ""}${series.time ? `, ${series.time.name}` : ""}`
      + " and the model's columns. Blank cells are missing values."
    : "One line per row. Blank cells are missing values; other columns are ignored.";
  const drop = byId("drop");
  let current = 0;
  const predict = async (text) => {
    const run = ++current;
    clear();
    await predictAll(text, schema, () => run === current).catch((error) => {
      if (run === current) say([error.message], true);
    });
  };
  byId("predict-many").addEventListener("click", () => predict(byId("paste").value));
  const take = async (file) => {
    if (!file) return;
    const text = await file.text();
    byId("paste").value = text.length < 200_000 ? text : "";
    predict(text);
  };
  byId("file").addEventListener("change", (event) => take(event.target.files[0]));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
}

function clear() {
  byId("many-scroll").hidden = byId("download").hidden = true;
  say([]);
}

function say(lines, wrong = false) {
  byId("many-say").replaceChildren(
    ...lines.map((line) => make("p", { class: wrong ? "trouble" : "hint" }, line)));
}

async function predictAll(text, schema, wanted) {
  if (text.trim() === "") throw new Error("First choose a file, or paste its lines.");
  const table = records(parse(text), schema);
  const good = table.records.filter((record) => !record.error);
  const notes = [];
  let done = 0;
  for (const piece of pieces(good, Math.min(PIECE, schema.limits.rows))) {
    await send(piece, schema, notes);
    if (!wanted()) return; // another file has been chosen since
    done += piece.length;
    if (good.length > PIECE) say([`${done} of ${good.length} predicted …`]);
  }
  const what = schema.series ? "series" : "rows";
  const bad = table.records.filter((record) => record.error).length; // also those that the server refused
  const lines = [`${table.records.length - bad} ${what} predicted${bad ? `, ${bad} not: see the column “problem”` : ""}.`];
  say([...lines, ...table.notes, ...notes.slice(0, 5).map(({ field, note }) => `${field}: ${note}`)]);
  show(table, schema);
}

function* pieces(all, most) {
  let piece = [];
  let filled = 0;
  for (const record of all) {
    const size = record.row.steps?.length ?? 1;
    if (piece.length && filled + size > most) {
      yield piece;
      piece = [];
      filled = 0;
    }
    piece.push(record);
    filled += size;
  }
  if (piece.length) yield piece;
}

// Halve a piece that is too large in bytes or refused; the error of a single record is its own.
async function send(piece, schema, notes) {
  const body = JSON.stringify({ rows: piece.map((record) => record.row) });
  const halve = () => {
    const middle = Math.ceil(piece.length / 2);
    return [piece.slice(0, middle), piece.slice(middle)];
  };
  if (piece.length > 1 && new Blob([body]).size > schema.limits.bytes) {
    for (const half of halve()) await send(half, schema, notes);
    return;
  }
  try {
    const answer = await ask("predict", body);
    answer.predictions.forEach((prediction, i) => { piece[i].prediction = prediction; });
    for (const { field, note } of answer.notes) {
      const at = /^rows\[(\d+)\]\.?(.*)$/.exec(field);
      notes.push(at ? { field: `${piece[at[1]].id ?? `Line ${piece[at[1]].line}`}, ${at[2]}`, note } : { field, note });
    }
  } catch (error) {
    if (![413, 422].includes(error.status)) throw error;
    if (piece.length > 1) {
      for (const half of halve()) await send(half, schema, notes);
    } else {
      piece[0].error = error.message;
    }
  }
}

function show(table, schema) {
  const { series, classes } = schema;
  const shares = (classes ?? []).map(String);
  const problems = table.records.some((record) => record.error);
  const names = series ? [series.id ?? "series"] : table.names;
  const bounded = table.records.some((record) => record.prediction?.within);
  const bounds = bounded ? (classes ? ["set"] : ["low", "high"]) : [];
  const ends = [...bounds, ...(problems ? ["problem"] : [])];
  const head = ["prediction", ...shares.map((label) => `probability of ${label}`), ...ends];
  const predicted = (record) => {
    const { prediction } = record;
    const last = prediction?.steps ? prediction.steps.at(-1) : prediction;
    const within = bounds.map((name) => (classes ? last?.within.set.join("|") : last?.within[name]));
    return [last?.prediction, ...shares.map((label) => last?.probability[label]), ...within,
      ...(problems ? [record.error] : [])];
  };
  const cells = (record) => names.map((_, i) => record.cells[i] ?? "");
  // In the file, the column names of `imputefree predict`.
  const plain = ["prediction", ...shares.map((label) => `p_${label}`), ...ends];
  const file = write([[...names, ...plain],
    ...table.records.map((record) => [...cells(record), ...predicted(record)])]);
  const link = byId("download");
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([file], { type: "text/csv" }));
  link.hidden = false;
  const title = (name) => make("th", { scope: "col" }, name);
  const first = series ? names[0] : "line";
  const rows = table.records.slice(0, SHOWN).map((record) => make("tr", {},
    make("th", { scope: "row" }, String(series ? record.cells[0] : record.line)),
    ...predicted(record).map((value, i) => (
      classes && i === 0 ? make("td", {}, String(value ?? "")) : cell(value, classes))),
    ...(series ? [] : cells(record).map((value) => make("td", {}, value)))));
  byId("many-table").replaceChildren(
    make("caption", { class: "hint" }, table.records.length > SHOWN
      ? `The first ${SHOWN} of ${table.records.length}; the download has all of them.`
      : "All predictions; the download has the same."),
    make("thead", {}, make("tr", {}, title(first), ...head.map(title), ...(series ? [] : names.map(title)))),
    make("tbody", {}, ...rows));
  byId("many-scroll").hidden = false;
}

function cell(value, share) {
  if (typeof value !== "number") return make("td", {}, value ?? "");
  return make("td", { class: "figure" }, share ? percent(value) : figure(value));
}
