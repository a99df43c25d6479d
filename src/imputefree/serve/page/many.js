// Predictions for all lines of a CSV file: asked in pieces, shown as a table, offered as a file.

import { ask } from "./ask.js";
import { parse, write } from "./csv.js";
import { byId, figure, make, percent } from "./dom.js";
import { records } from "./records.js";

const SHOWN = 50; // lines of the table; the file has all
const PIECE = 500; // rows, or steps, asked for at a time

export function startMany(schema) {
  const { series } = schema;
  byId("many-hint").textContent = series
    ? `One line a step${series.id ? `, with ${series.id}` : ""}${series.time ? `, ${series.time.name}` : ""}`
      + " and the model's columns. Blank cells are missing values."
    : "One line a row. Blank cells are missing values; other columns are left alone.";
  const drop = byId("drop");
  let current = 0;
  const run = async (text) => {
    const own = ++current;
    clear();
    await predictAll(text, schema, () => own === current).catch((error) => {
      if (own === current) say([error.message], true);
    });
  };
  byId("predict-many").addEventListener("click", () => run(byId("paste").value));
  const take = async (file) => {
    if (!file) return;
    const text = await file.text();
    byId("paste").value = text.length < 200_000 ? text : "";
    run(text);
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
  if (text.trim() === "") throw new Error("Choose a file, or paste its lines, first.");
  const table = records(parse(text), schema);
  const good = table.records.filter((one) => !one.error);
  const notes = [];
  let done = 0;
  for (const piece of pieces(good, Math.min(PIECE, schema.limits.rows))) {
    await send(piece, schema, notes);
    if (!wanted()) return; // another file has been chosen since
    done += piece.length;
    if (good.length > PIECE) say([`${done} of ${good.length} predicted …`]);
  }
  const what = schema.series ? "series" : "rows";
  const bad = table.records.filter((one) => one.error).length; // those the server refused, too
  const lines = [`${table.records.length - bad} ${what} predicted${bad ? `, ${bad} not: see the column “problem”` : ""}.`];
  say([...lines, ...table.notes, ...notes.slice(0, 5).map(({ field, note }) => `${field}: ${note}`)]);
  show(table, schema);
}


function* pieces(all, most) {
  let piece = [];
  let filled = 0;
  for (const record of all) {
    const own = record.row.steps?.length ?? 1;
    if (piece.length && filled + own > most) {
      yield piece;
      piece = [];
      filled = 0;
    }
    piece.push(record);
    filled += own;
  }
  if (piece.length) yield piece;
}

// Halves of a piece where it is too large as a text; what the server refuses alone is its own error.
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
    const found = await ask("predict", body);
    found.predictions.forEach((one, i) => { piece[i].said = one; });
    for (const { field, note } of found.notes) {
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
  const problems = table.records.some((one) => one.error);
  const own = series ? [series.id ?? "series"] : table.names;
  const head = ["prediction", ...shares.map((label) => `probability of ${label}`), ...(problems ? ["problem"] : [])];
  const said = (record) => {
    const one = record.said?.steps ? record.said.steps.at(-1) : record.said;
    return [one?.prediction, ...shares.map((label) => one?.probability[label]), ...(problems ? [record.error] : [])];
  };
  const cells = (record) => own.map((_, i) => record.cells[i] ?? "");
  // In the file, names as `imputefree predict` gives them.
  const plain = ["prediction", ...shares.map((label) => `p_${label}`), ...(problems ? ["problem"] : [])];
  const file = write([[...own, ...plain], ...table.records.map((one) => [...cells(one), ...said(one)])]);
  const link = byId("download");
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([file], { type: "text/csv" }));
  link.hidden = false;
  const title = (name) => make("th", { scope: "col" }, name);
  const first = series ? own[0] : "line";
  const rows = table.records.slice(0, SHOWN).map((record) => make("tr", {},
    make("th", { scope: "row" }, String(series ? record.cells[0] : record.line)),
    ...said(record).map((value, i) => (
      classes && i === 0 ? make("td", {}, String(value ?? "")) : cell(value, i > 0))),
    ...(series ? [] : cells(record).map((value) => make("td", {}, value)))));
  byId("many-table").replaceChildren(
    make("caption", { class: "hint" }, table.records.length > SHOWN
      ? `The first ${SHOWN} of ${table.records.length}; the download has all.`
      : "All of them; the download has the same."),
    make("thead", {}, make("tr", {}, title(first), ...head.map(title), ...(series ? [] : own.map(title)))),
    make("tbody", {}, ...rows));
  byId("many-scroll").hidden = false;
}

function cell(value, share) {
  if (typeof value !== "number") return make("td", {}, value ?? "");
  return make("td", { class: "figure" }, share ? percent(value) : figure(value));
}
