// Predictions for a whole file: the server reads it, the user sees what was understood, then rows
// are predicted in parts, shown as a table and offered as a file.

import { ask } from "./ask.js";
import { byId, figure, make, percent } from "./dom.js";
import { dayText } from "./fields.js";

const PREVIEWED = 5; // rows, and columns of a wide table: PREVIEWED_COLUMNS
const PREVIEWED_COLUMNS = 40;
const SHOWN = 50; // predictions in the table; the file has all of them
const PIECE = 500; // rows, or steps, per request

export function startMany(schema, open) {
  const { series } = schema;
  const file = series
    ? `One line per step${series.id ? `, with ${series.id}` : ""}${series.time ? ` and ${series.time.name}` : ""}.`
    : "One line per row.";
  byId("many-hint").textContent = `${file} Blank cells are missing values; other columns are ignored.`
    + " You see what was understood before anything is predicted.";
  let current = 0; // the latest file wins
  let upload = null;
  const run = async (work) => {
    const mine = ++current;
    const wanted = () => mine === current;
    await work(wanted).catch((error) => { if (wanted()) say(error.message, true); });
  };
  const read = (content, name) => run(async (wanted) => {
    byId("preview").hidden = byId("answers").hidden = true;
    if (content.size > schema.limits.bytes) {
      const most = schema.limits.bytes.toLocaleString("en");
      throw new Error(`${name} is larger than ${most} bytes, the server's --max-bytes. Use \`imputefree predict\` for it.`);
    }
    say(`Reading ${name} …`);
    const sheet = encodeURIComponent(byId("sheet").value);
    const answer = await ask(`read?name=${encodeURIComponent(name)}&sheet=${sheet}`, content);
    if (!wanted()) return;
    upload = answer;
    say("");
    preview(upload, schema);
  });
  byId("predict-many").addEventListener("click", () => run(async (wanted) => {
    byId("answers").hidden = true;
    const notes = await predictAll(upload.rows, schema, wanted);
    if (wanted()) show(upload, schema, notes, open);
  }));
  byId("read-paste").addEventListener("click", () => {
    const text = byId("paste").value;
    if (text.trim() === "") say("First paste the lines.", true);
    else read(new Blob([text]), "pasted.csv");
  });
  let latest = null; // the file that another sheet would be of
  const take = (chosen) => {
    latest = chosen ?? latest;
    if (chosen) read(chosen, chosen.name);
  };
  byId("sheet").addEventListener("change", () => take(latest));
  byId("file").addEventListener("change", (event) => {
    take(event.target.files[0]);
    event.target.value = ""; // so that the same file can be chosen again
  });
  const drop = byId("drop");
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
}

function say(words, wrong = false) {
  byId("many-say").replaceChildren(...(words ? [make("p", { class: wrong ? "trouble" : "hint" }, words)] : []));
}

function preview({ notes, title, rows }, schema) {
  const { series } = schema;
  byId("understood").replaceChildren(...notes.map((line) => make("li", {}, line)));
  const fixed = series ? series.static.map((column) => column.name) : [];
  const time = series?.time ? [series.time.name] : [];
  const whole = schema.columns.filter(({ date }) => date?.part === "days").map(({ date }) => date.name);
  const columns = schema.columns.filter(({ date }) => date?.part === "days" || !whole.includes(date?.name));
  const names = [...fixed, ...time, ...columns.map((column) => column.name)].slice(0, PREVIEWED_COLUMNS);
  const days = new Map(columns.filter(({ date }) => whole.includes(date?.name)).map((column) => [column.name, column]));
  const shownAs = (name, value) => (days.has(name) && typeof value === "number" ? dayText(days.get(name), value) : value);
  const lines = rows.flatMap(({ name, row }) => (series
    ? row.steps.slice(0, PREVIEWED).map((step) => [name, { ...row.static, ...step }]) : [[name, row]]));
  const shown = lines.slice(0, PREVIEWED).map(([name, values]) => make("tr", {},
    make("th", { scope: "row" }, name), ...names.map((column) => cell(shownAs(column, values[column])))));
  const count = `${rows.length.toLocaleString("en")} ${series ? "series" : rows.length === 1 ? "row" : "rows"}`;
  byId("preview-table").replaceChildren(
    captioned(`The first ${shown.length} ${series ? "steps" : "rows"} as the model reads them; hatched cells are missing.`),
    make("thead", {}, make("tr", {}, ...[title, ...names].map((name) => make("th", { scope: "col" }, days.get(name)?.date.name ?? name)))),
    make("tbody", {}, ...shown));
  byId("predict-many").textContent = `Predict ${count}`;
  byId("preview").hidden = false;
  byId("preview-title").focus();
}

function cell(value) {
  if (value === null || value === undefined) return make("td", { class: "missing" }, make("span", { class: "unseen" }, "missing"));
  if (typeof value === "number") return make("td", { class: "figure" }, figure(value));
  return make("td", {}, String(value));
}

// Adds a prediction, or an error, to each row; returns notes.
async function predictAll(rows, schema, wanted) {
  const notes = [];
  let done = 0;
  for (const piece of pieces(rows, Math.min(PIECE, schema.limits.rows))) {
    await send(piece, schema, notes);
    if (!wanted()) return notes; // another file has been chosen since
    done += piece.length;
    if (rows.length > PIECE) say(`${done.toLocaleString("en")} of ${rows.length.toLocaleString("en")} predicted …`);
  }
  return notes;
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
  const halves = async () => {
    const middle = Math.ceil(piece.length / 2);
    await send(piece.slice(0, middle), schema, notes);
    await send(piece.slice(middle), schema, notes);
  };
  if (piece.length > 1 && new Blob([body]).size > schema.limits.bytes) return halves();
  try {
    const answer = await ask("predict", body);
    answer.predictions.forEach((prediction, i) => { piece[i].prediction = prediction; });
    for (const { field, note } of answer.notes) {
      const at = /^rows\[(\d+)\]\.?(.*)$/.exec(field);
      notes.push(at ? `${piece[at[1]].name}, ${at[2]}: ${note}` : note);
    }
  } catch (error) {
    if (![413, 422].includes(error.status)) throw error;
    if (piece.length > 1) return halves();
    piece[0].error = error.message;
  }
}

function show({ title, rows, unused }, schema, notes, open) {
  const { series, classes, target } = schema;
  const labels = (classes ?? []).map(String);
  const problems = rows.some((record) => record.error);
  const bounded = rows.some((record) => record.prediction?.within);
  const bounds = bounded ? (classes ? ["set"] : ["low", "high"]) : [];
  const ends = [...bounds, ...(problems ? ["problem"] : [])];
  const predicted = ({ prediction, error }, mark = ", ") => {
    const last = prediction?.steps ? prediction.steps.at(-1) : prediction;
    const within = bounds.map((name) => (classes ? last?.within?.set.join(mark) : last?.within?.[name]));
    return [last?.prediction, ...labels.map((label) => last?.probability[label]), ...within, ...(problems ? [error] : [])];
  };
  offer(rows, schema, [title, ...unused], ["prediction", ...labels.map((label) => `p_${label}`), ...ends], predicted);
  const head = [target ? `predicted ${target}` : "prediction", ...labels.map((label) => `probability of ${label}`), ...ends];
  const lines = rows.slice(0, SHOWN).map((record) => {
    const button = make("button", { type: "button", class: "quiet", "aria-label": `Show ${record.name} in the form` }, record.name);
    button.addEventListener("click", () => open(record.row));
    const cells = predicted(record).map((value, i) => (
      typeof value === "number" && i > 0 && i <= labels.length
        ? make("td", { class: "figure" }, percent(value)) : value === undefined || value === null
          ? make("td", {}) : typeof value === "number" && !(classes && i === 0)
            ? make("td", { class: "figure" }, figure(value)) : make("td", {}, String(value))));
    return make("tr", {}, make("th", { scope: "row" }, button), ...cells, ...record.kept.map(cell));
  });
  byId("many-table").replaceChildren(
    captioned(`${rows.length > SHOWN ? `The first ${SHOWN} of ${rows.length.toLocaleString("en")}; the download has all.` : ""}`
      + ` Choose a ${series ? "series" : "row"} to see it in the form above.`),
    make("thead", {}, make("tr", {}, ...[title, ...head, ...unused].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...lines));
  const bad = rows.filter((record) => record.error).length;
  const what = (count) => `${count.toLocaleString("en")} ${series ? "series" : count === 1 ? "row" : "rows"}`;
  const more = notes.length > 5 ? ` And ${notes.length - 5} more notes.` : "";
  say([`${what(rows.length - bad)} predicted${bad ? `, ${bad} not: see the column “problem”` : ""}.`,
    ...notes.slice(0, 5)].join(" ") + more);
  byId("answers").hidden = false;
  byId("answers-title").focus();
}

// A caption that stays in sight where a wide table is scrolled.
function captioned(text) { return make("caption", { class: "hint" }, make("span", {}, text)); }

// The file begins with what tells rows apart: line or id, and the columns that the model does not use.
function offer(rows, schema, first, head, predicted) {
  const columns = schema.series ? [] : schema.columns.map((column) => column.name);
  const known = ({ name, row, kept }) => [name, ...kept, ...columns.map((column) => row[column])];
  const lines = [[...first, ...columns, ...head], ...rows.map((record) => [...known(record), ...predicted(record, "|")])];
  const link = byId("download");
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([csv(lines)], { type: "text/csv" }));
}

function csv(lines) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const formula = typeof value === "string" && /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text);
    const number = /^[+-][\d.,]+(e[+-]?\d+)?%?$/i.test(text);
    const safe = formula && !number ? `'${text}` : text; // as imputefree predict writes it
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return lines.map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}
