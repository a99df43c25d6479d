// Small charts of a series, one per column: values over time, gaps as gaps, effects as dots.

import { byId, figure, make, shape, short } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 64;
const EDGE = 7; // free space around the values
const LOW = HEIGHT - 10; // below are the marks of gaps
const SMALL_EFFECT = 0.02; // of the largest: a grey dot

export function drawCharts(schema, steps, effects, pick) {
  const name = schema.series.time?.name;
  const times = steps.map((step, i) => moment(name ? step[name] : i, i));
  const largest = Math.max(...(effects ?? []).flatMap((step) => Object.values(step).map(Math.abs)), 0);
  const measured = schema.columns.filter((column) => steps.some((step) => known(step[column.name])));
  const others = schema.columns.filter((column) => !measured.includes(column)).map((column) => column.name);
  byId("charts").replaceChildren(...measured.map((column) =>
    chart(column, steps, times, effects, largest, pick)));
  byId("charts-hint").textContent = measured.length
    ? "Each chart has its own scale. Marks below are steps without a value. Larger dots had a larger"
      + " effect: blue raised the prediction, orange lowered it. Choose a chart to edit its values."
    : "Enter values below, or choose a series from a file: it is drawn here.";
  byId("unmeasured").hidden = others.length === 0 || measured.length === 0;
  byId("unmeasured").textContent = `No value at any step: ${short(others, 40)}.`;
}

const known = (value) => value !== null && value !== undefined;

function moment(time, i) {
  if (typeof time === "number") return time;
  const read = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(read) ? i : read;
}

function chart(column, steps, times, effects, largest, pick) {
  const values = steps.map((step) => step[column.name] ?? null);
  const levels = [...new Set(values.filter((value) => typeof value === "string"))];
  const numbers = values.map((value) => (typeof value === "string" ? levels.indexOf(value) : value));
  const seen = numbers.filter((value) => value !== null);
  const across = scale(Math.min(...times), Math.max(...times), EDGE, WIDTH - EDGE);
  const down = scale(Math.min(...seen), Math.max(...seen), LOW - EDGE, EDGE);
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  let line = "";
  let joined = false; // whether the step before has a value
  numbers.forEach((number, i) => {
    if (number !== null) line += `${joined ? "L" : "M"}${across(times[i])} ${down(number)}`;
    joined = number !== null;
  });
  picture.append(shape("path", { class: "ground", d: `M0 ${LOW}H${WIDTH}` }), shape("path", { class: "curve", d: line }));
  numbers.forEach((number, i) => {
    const x = across(times[i]);
    if (number === null) {
      picture.append(shape("path", { class: "gap", d: `M${x} ${LOW + 3}v5` }));
      return;
    }
    const effect = effects?.[i]?.[column.name] ?? 0;
    const share = largest ? Math.abs(effect) / largest : 0;
    const kind = share < SMALL_EFFECT ? "none" : effect > 0 ? "up" : "down";
    picture.append(shape("circle", { class: `dot ${kind}`, cx: x, cy: down(number), r: 2 + 3.5 * Math.sqrt(share) }));
  });
  const words = (value) => (typeof value === "number" ? figure(value) : value);
  const last = words(values.filter((value) => value !== null).at(-1));
  const range = levels.length ? levels.join(", ") : `${words(Math.min(...seen))} to ${words(Math.max(...seen))}`;
  const label = `${column.name}: last ${last}; ${seen.length} of ${steps.length} steps measured, ${range}. Edit.`;
  const button = make("button", { type: "button", class: "chart", "aria-label": label },
    make("span", { class: "line" }, make("span", { class: "name", title: column.name }, column.name), make("span", { class: "figure" }, last)),
    picture);
  button.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const at = event.detail === 0 ? WIDTH : ((event.clientX - box.left) / box.width) * WIDTH; // 0: by keyboard
    const distance = (i) => Math.abs(across(times[i]) - at);
    pick(column.name, times.map((_, i) => i).reduce((best, i) => (distance(i) <= distance(best) ? i : best)));
  });
  return button;
}

function scale(low, high, from, to) {
  return (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
}
