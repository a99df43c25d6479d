// The answer to the values of the form: headline, what to measure next, bars.

import { bar, byId, figure, make, percent } from "./dom.js";

const MOST_BARS = 12;

export class Answer {
  constructor(schema) {
    this.schema = schema;
    this.classes = schema.classes;
    this.last = null;
    if (this.classes) {
      const of = byId("of");
      for (const label of this.classes) of.append(make("option", { value: String(label) }, String(label)));
      of.value = String(this.classes.at(-1));
      of.hidden = false;
    }
    byId("why-hint").textContent = this.classes
      ? "In percentage points: the probability now, minus the probability without the value."
      : "The prediction now, minus the prediction without the value.";
    this.what();
  }

  get of() { return this.classes ? byId("of").value : null; }

  what() {
    const target = this.schema.target;
    byId("what").textContent = this.classes
      ? `Probability of ${target ? `${target} =` : ""}`
      : `Predicted ${target ?? "number"}`;
  }

  value(number) { return this.classes ? percent(number) : figure(number); }

  show(why, form) {
    this.last = why;
    byId("value").textContent = this.value(why.explained);
    byId("result").classList.remove("old");
    byId("trouble").hidden = true;
    const useful = this.showNext(why.next, form);
    const of = this.classes ? ` ${this.of}` : "";
    const within = this.showWithin(why.prediction.within);
    byId("status").textContent = `${byId("what").textContent}${of}: ${this.value(why.explained)}. ${within}`
      + (useful ? ` Most useful to measure next: ${why.next.name}.` : "");
    this.showShares(why);
    this.showEffects(why, form);
  }

  // Do not show the last prediction as if it were for the present values.
  fail(words, form) {
    form.mark(null);
    byId("result").classList.remove("old");
    byId("status").textContent = words;
    byId("value").textContent = "—";
    byId("trouble").textContent = words;
    byId("trouble").hidden = false;
    byId("next").hidden = true;
    byId("within").hidden = true;
    byId("shares").hidden = true;
    byId("effects").replaceChildren();
    byId("no-effects").hidden = true;
  }

  // The set of classes or the interval that holds the truth in, for example, 90 % of all rows.
  showWithin(within) {
    byId("within").hidden = within === undefined;
    if (within === undefined) return "";
    const share = `${Math.round(100 * within.coverage)}\u00a0%`;
    let words = `${share} set: ${within.set?.join(", ")}`;
    if (!within.set) {
      const bounded = within.low !== null && within.high !== null;
      words = bounded ? `${share} interval: ${figure(within.low)} to ${figure(within.high)}`
        : `${share} interval: too few rows to bound it`;
    }
    byId("within").textContent = words;
    return `${words}.`;
  }

  showNext(next, form) {
    const useful = next !== null && (next.gain ?? next.change) > 0;
    byId("next").hidden = !useful;
    form.mark(useful ? next.name : null);
    if (!useful) return false;
    byId("to-next").textContent = next.name;
    const cost = next.cost === undefined ? "" : `cost ${figure(next.cost)}; `;
    byId("next-reach").textContent = `(${cost}could give ${this.value(next.low)} to ${this.value(next.high)})`;
    return true;
  }

  showShares(why) {
    const list = byId("shares");
    const prediction = why.prediction.steps ? why.prediction.steps.at(-1) : why.prediction;
    list.hidden = !this.classes || this.classes.length < 3;
    if (list.hidden) return;
    const shares = Object.entries(prediction.probability).sort((a, b) => b[1] - a[1]).slice(0, MOST_BARS);
    list.replaceChildren(...shares.map(([label, share]) => make("li", {},
      line(label, percent(share)), bar(0, share, "up"))));
  }

  showEffects(why, form) {
    const shown = why.columns.filter((column) => column.effect !== null);
    shown.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
    const widest = Math.max(...shown.map((column) => Math.abs(column.effect)), 1e-12);
    byId("no-effects").hidden = shown.length > 0;
    byId("effects").replaceChildren(...shown.slice(0, MOST_BARS).map((column) => {
      const to = 0.5 + (0.5 * column.effect) / widest;
      return make("li", {}, line(column.name, this.change(column.effect), this.entered(column.name, form)),
        bar(0.5, to, column.effect < 0 ? "down" : "up", true));
    }));
    if (shown.length > MOST_BARS) {
      byId("effects").append(make("li", { class: "hint" }, `and ${shown.length - MOST_BARS} smaller ones`));
    }
  }

  // The value in the form; for series, the number of values of the column.
  entered(name, form) {
    if (this.schema.series && !this.schema.series.static.some((column) => column.name === name)) {
      const count = form.steps.filter((step) => !step.fields.get(name).blank).length;
      return count > 1 ? ` (${count} values)` : " (1 value)";
    }
    return ` = ${form.forColumn(name).input.value}`;
  }

  change(effect) {
    const sign = effect < 0 ? "−" : "+";
    const size = Math.abs(effect);
    return sign + (this.classes ? (100 * size).toFixed(1) : figure(size));
  }
}

function line(name, number, value = null) {
  const words = make("span", {}, name);
  if (value !== null) words.append(make("span", { class: "hint" }, value));
  return make("span", { class: "line" }, words, make("span", { class: "figure" }, number));
}
