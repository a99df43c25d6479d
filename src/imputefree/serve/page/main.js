// The page: fetch the schema, build the form, update the answer while the user types.

import { Answer } from "./answer.js";
import { ask, keepToken } from "./ask.js";
import { card } from "./card.js";
import { byId } from "./dom.js";
import { RowForm } from "./form.js";
import { startMany } from "./many.js";
import { SeriesForm } from "./series.js";

const PAUSE = 200; // milliseconds without typing before the server is asked

async function start() {
  let schema;
  try {
    schema = await ask("schema");
  } catch (error) {
    if (error.status === 401) askForToken();
    else byId("about").textContent = error.message;
    return;
  }
  byId("token-form").hidden = true;
  open(schema);
}

function askForToken(words = "") {
  byId("about").textContent = "This model requires a token.";
  byId("token-form").hidden = false;
  byId("token-say").textContent = words;
  byId("token").focus();
}

byId("token-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = byId("token").value.trim();
  if (!/^[!-~]+$/.test(token)) return askForToken("A token has no spaces and only ASCII characters.");
  keepToken(token);
  try {
    await ask("schema");
  } catch (error) {
    return askForToken(error.status === 401 ? "This token is wrong." : error.message);
  }
  await start();
  byId("entry-title").focus();
});

function open(schema) {
  const target = schema.target ? `Predict ${schema.target}` : "Try the model";
  document.title = `${target} · imputefree`;
  byId("title").textContent = target;
  const count = schema.columns.length + (schema.series?.static.length ?? 0);
  const unit = schema.series ? "series" : "rows";
  const learned = schema.training ? ` Learned from ${schema.training.rows.toLocaleString("en")} ${unit}.` : "";
  byId("about").textContent = `From ${count} ${count === 1 ? "column" : "columns"}${schema.series ? " over time" : ""},`
    + ` any of which may be missing.${learned}`;
  byId("version").textContent = schema.version;
  if (schema.card) {
    byId("card").append(...card(schema.card));
    byId("card-section").hidden = false;
  }
  const form = schema.series ? new SeriesForm(schema) : new RowForm(schema);
  byId("main").hidden = false;
  const update = followForm(schema, form, new Answer(schema, form));
  startMany(schema, (row) => {
    form.write(row);
    update();
    byId("entry-title").focus();
  });
}

function followForm(schema, form, answer) {
  let timer = null;
  let running = null;

  async function update() {
    clearTimeout(timer);
    running?.abort(); // the latest values win
    const request = (running = new AbortController());
    const { row, wrong } = form.read();
    if (wrong.length) {
      answer.fail("Correct the marked field, or clear it.");
      return;
    }
    form.draw(row);
    const of = answer.of === null ? "" : `?of=${encodeURIComponent(answer.of)}`;
    try {
      const why = await ask(`explain${of}`, row, request.signal);
      if (request !== running) return;
      answer.show(why);
      form.draw(row, why.steps);
      for (const { field, note } of why.notes) form.field(field)?.say(note);
    } catch (error) {
      if (error.name === "AbortError" || request !== running) return;
      const field = error.field && form.field(error.field);
      if (field) field.say(error.message, true);
      answer.fail(field ? "Correct the marked field, or clear it." : error.message);
    }
  }

  byId("form").addEventListener("input", () => {
    byId("result").classList.add("old");
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  byId("of").addEventListener("change", update);
  byId("fill").addEventListener("click", () => { form.write(schema.example); update(); });
  byId("clear").addEventListener("click", () => { form.write({}); update(); });
  update();
  return update;
}

start();
