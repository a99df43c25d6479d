// What to measure next: missing values by what they could change, per unit of a cost that one enters.

import { bar, byId, make } from "./dom.js";

const SHOWN = 5;

export class NextList {
  // value: writes a prediction
  constructor(form, value) {
    this.form = form;
    this.value = value;
    this.costs = new Map(); // text by column, as entered
    this.rows = [];
    this.all = false;
    byId("next-more").addEventListener("click", () => {
      this.all = !this.all;
      this.arrange();
    });
  }

  hide() {
    byId("next").hidden = true;
    this.form.mark(null);
  }

  // Returns the most useful column, or null.
  show(why) {
    const missing = why.columns.filter((column) => column.next !== null);
    byId("next").hidden = missing.length === 0;
    byId("next-hint").textContent = `${missing.some((column) => column.next.gain !== undefined)
      ? "By expected gain per unit of cost." : "By how far a value could move the prediction, per unit of cost."}`
      + " Costs are in any unit; clear the cost of what cannot be measured.";
    const ends = missing.flatMap(({ next }) => [next.low, next.high]).concat(why.explained);
    const low = Math.min(...ends);
    const width = Math.max(...ends) - low || 1;
    const share = (number) => (number - low) / width;
    this.rows = missing.map(({ name, next }) => this.row(name, next, share, share(why.explained)));
    return this.arrange();
  }

  row(name, next, share, now) {
    if (!this.costs.has(name)) this.costs.set(name, next.cost === null ? "" : String(next.cost ?? 1));
    const cost = make("input", { type: "text", inputmode: "decimal", size: 5, "aria-label": `Cost of ${name}`, autocomplete: "off" });
    cost.value = this.costs.get(name);
    cost.addEventListener("change", () => {
      this.costs.set(name, cost.value.trim());
      setTimeout(() => this.arrange()); // once the focus has moved on
    });
    const button = make("button", { type: "button", class: "quiet", "aria-label": `Enter ${name}` }, name);
    button.addEventListener("click", () => this.form.focusOn(name));
    const reach = `${this.value(next.low)} to ${this.value(next.high)}`;
    const element = make("tr", {}, make("th", { scope: "row" }, button),
      make("td", { class: "reach" }, reach, bar(share(next.low), share(next.high), "up", now)),
      make("td", {}, cost));
    return { name, cost, element, worth: next.gain ?? next.change };
  }

  // Sort by worth per unit of cost, mark the best, keep the focus.
  arrange() {
    for (const row of this.rows) {
      const price = row.cost.value.trim() === "" ? Infinity : Number(row.cost.value);
      const wrong = !(price > 0);
      row.cost.toggleAttribute("aria-invalid", wrong);
      row.element.classList.toggle("never", !Number.isFinite(price) || wrong);
      row.rate = wrong ? 0 : row.worth / price;
    }
    this.rows.sort((a, b) => b.rate - a.rate);
    const focused = document.activeElement;
    const list = byId("next-rows");
    list.replaceChildren(...this.rows.map((row) => row.element));
    if (list.contains(focused)) focused.focus();
    this.rows.forEach((row, i) => { row.element.hidden = i >= SHOWN && !this.all; });
    const more = this.rows.length - SHOWN;
    byId("next-more").hidden = more <= 0;
    byId("next-more").textContent = this.all ? "Show fewer" : `Show ${more} more`;
    const best = this.rows[0]?.rate > 0 ? this.rows[0].name : null;
    this.form.mark(best);
    return best;
  }
}
