// The answer to the values of the form: prediction, how far to trust it, the effect of each value.

import { bar, byId, figure, make, percent } from "./dom.js";
import { NextList } from "./next.js";

const MOST_BARS = 12;

export class Answer {
  constructor(schema, form) {
    this.schema = schema;
    this.form = form;
    this.classes = schema.classes;
    this.next = new NextList(form, (number) => this.value(number));
    if (this.classes) {
      const of = byId("of");
      for (const label of this.classes) of.append(make("option", { value: String(label) }, String(label)));
      of.value = String(this.classes.at(-1));
      of.hidden = false;
    }
    byId("why-hint").textContent = this.classes
      ? "In percentage points: the probability now, minus the probability without the value."
      : "The prediction now, minus the prediction without the value.";
    const target = schema.target;
    byId("what").textContent = this.classes
      ? `Probability of ${target ? `${target} =` : ""}`
      : `Predicted ${target ?? "number"}`;
  }

  get of() { return this.classes ? byId("of").value : null; }

  value(number) { return this.classes ? percent(number) : figure(number); }

  show(why) {
    const { level, sentence } = why.familiarity;
    const empty = level === "nothing";
    this.level(level);
    // What a model says of a row without any value is not worth large letters.
    byId("value").textContent = empty ? "Nothing entered yet" : this.value(why.explained);
    byId("trouble").hidden = true;
    const within = empty ? "" : this.words(why.prediction.within);
    byId("within").hidden = within === "";
    byId("within").textContent = within;
    byId("familiar").hidden = false;
    byId("familiar").textContent = empty
      ? `${sentence.replace("Nothing is given.", "").trim()} Enter what you know: the prediction follows what you type.`.trim()
      : sentence;
    const best = this.next.show(why);
    const of = this.classes ? ` ${this.of}` : "";
    const parts = [
      `${byId("what").textContent}${of}: ${byId("value").textContent}.`,
      within && `${within}.`,
      byId("familiar").textContent,
      best && `Most useful to measure next: ${best}.`,
    ];
    byId("status").textContent = parts.filter(Boolean).join(" ");
    this.showShares(why, empty);
    this.showEffects(why);
  }

  level(name) {
    byId("result").classList.remove("old");
    byId("result").dataset.level = name;
  }

  // Do not show the last prediction as if it were for the present values.
  fail(words) {
    this.next.hide();
    this.level("failed");
    byId("status").textContent = words;
    byId("value").textContent = "—";
    byId("trouble").textContent = words;
    byId("trouble").hidden = false;
    for (const id of ["within", "familiar", "shares", "no-effects"]) byId(id).hidden = true;
    byId("effects").replaceChildren();
  }

  // The set of classes or the interval that holds the truth in, for example, 90 % of all rows.
  words(within) {
    if (within === undefined) return "";
    const share = `${Math.round(100 * within.coverage)}\u00a0%`;
    if (within.set) {
      const labels = within.set.map(String);
      if (!labels.length) return `${share} set: empty, unlike what the model was checked on`;
      return `${share} set: ${labels.join(", ")}${labels.length > 1 ? " (cannot tell these apart)" : ""}`;
    }
    if (within.low === null || within.high === null) return `${share} interval: too few rows to bound it`;
    return `${share} interval: ${figure(within.low)} to ${figure(within.high)}`;
  }

  showShares(why, empty) {
    const list = byId("shares");
    const prediction = why.prediction.steps ? why.prediction.steps.at(-1) : why.prediction;
    list.hidden = !this.classes || empty;
    if (list.hidden) return;
    const shares = Object.entries(prediction.probability).sort((a, b) => b[1] - a[1]).slice(0, MOST_BARS);
    const target = this.schema.target;
    list.replaceChildren(...shares.map(([label, share]) => make("li", {},
      line(target ? `${target} = ${label}` : label, percent(share)), bar(0, share, label === this.of ? "up" : "other"))));
  }

  showEffects(why) {
    const shown = why.columns.filter((column) => column.effect !== null);
    shown.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
    const widest = Math.max(...shown.map((column) => Math.abs(column.effect)), 1e-12);
    byId("no-effects").hidden = shown.length > 0;
    byId("effects").replaceChildren(...shown.slice(0, MOST_BARS).map((column) => {
      const to = 0.5 + (0.5 * column.effect) / widest;
      return make("li", {}, line(column.name, this.change(column.effect), this.form.entered(column.name)),
        bar(0.5, to, column.effect < 0 ? "down" : "up", 0.5));
    }));
    if (shown.length > MOST_BARS) {
      byId("effects").append(make("li", { class: "hint" }, `and ${shown.length - MOST_BARS} smaller ones`));
    }
  }

  change(effect) {
    const size = this.classes ? (100 * Math.abs(effect)).toFixed(1) : figure(Math.abs(effect));
    if (Number(size) === 0) return "0";
    return (effect < 0 ? "−" : "+") + size;
  }
}

function line(name, number, value = null) {
  const words = make("span", {}, name);
  if (value !== null) words.append(make("span", { class: "hint" }, value));
  return make("span", { class: "line" }, words, make("span", { class: "figure" }, number));
}
