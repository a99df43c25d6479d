// What the server says of the form's values: headline, what to measure next, bars.

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

  show(found, form) {
    this.last = found;
    byId("value").textContent = this.value(found.explained);
    byId("result").classList.remove("old");
    byId("trouble").hidden = true;
    const there = this.showNext(found.next, form);
    const of = this.classes ? ` ${this.of}` : "";
    byId("status").textContent = `${byId("what").textContent}${of}: ${this.value(found.explained)}.`
      + (there ? ` Most useful to measure next: ${found.next.name}.` : "");
    this.showShares(found);
    this.showEffects(found, form);
  }

  // The last prediction no longer fits what is entered: it is not shown as if it did.
  fail(words, form) {
    form.mark(null);
    byId("result").classList.remove("old");
    byId("status").textContent = words;
    byId("value").textContent = "—";
    byId("trouble").textContent = words;
    byId("trouble").hidden = false;
    byId("next").hidden = true;
    byId("shares").hidden = true;
    byId("effects").replaceChildren();
    byId("no-effects").hidden = true;
  }

  showNext(next, form) {
    const there = next !== null && next.change > 0;
    byId("next").hidden = !there;
    form.mark(there ? next.name : null);
    if (!there) return false;
    byId("to-next").textContent = next.name;
    byId("next-reach").textContent = `(it could give ${this.value(next.low)} to ${this.value(next.high)})`;
    return true;
  }

  showShares(found) {
    const list = byId("shares");
    const said = found.prediction.steps ? found.prediction.steps.at(-1) : found.prediction;
    list.hidden = !this.classes || this.classes.length < 3;
    if (list.hidden) return;
    const shares = Object.entries(said.probability).sort((a, b) => b[1] - a[1]).slice(0, MOST_BARS);
    list.replaceChildren(...shares.map(([label, share]) => make("li", {},
      line(label, percent(share)), bar(0, share, "up"))));
  }

  showEffects(found, form) {
    const shown = found.columns.filter((one) => one.effect !== null);
    shown.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
    const widest = Math.max(...shown.map((one) => Math.abs(one.effect)), 1e-12);
    byId("no-effects").hidden = shown.length > 0;
    byId("effects").replaceChildren(...shown.slice(0, MOST_BARS).map((one) => {
      const to = 0.5 + (0.5 * one.effect) / widest;
      return make("li", {}, line(one.name, this.change(one.effect), this.entered(one.name, form)),
        bar(0.5, to, one.effect < 0 ? "down" : "up", true));
    }));
    if (shown.length > MOST_BARS) {
      byId("effects").append(make("li", { class: "hint" }, `and ${shown.length - MOST_BARS} smaller ones`));
    }
  }

  // What stands in the form; of series, all values of the column count together.
  entered(name, form) {
    if (this.schema.series && !this.schema.series.static.some((one) => one.name === name)) {
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
