// Small helpers: find and make elements, draw bars, format numbers.

export const byId = (id) => document.getElementById(id);

// make("p", {class: "hint"}, "text", child, …); strings are never read as HTML.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

// A bar from `from` to `to` on a line of length 1; `middle` draws a mark in the middle.
export function bar(from, to, kind, middle = false) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 8");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const add = (name, x, width) => {
    const rect = document.createElementNS(SVG, "rect");
    for (const [key, value] of Object.entries({ class: name, x, width, y: 0, height: 8 })) {
      rect.setAttribute(key, value);
    }
    svg.append(rect);
  };
  add("ground", 0, 100);
  add(kind, 100 * Math.min(from, to), 100 * Math.abs(to - from));
  if (middle) add("middle", 49.8, 0.4);
  return svg;
}

export function percent(share) {
  const digits = share > 0.001 && share < 0.999 ? 1 : 2;
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

// Four digits, with an exponent only for very small or large numbers.
export function figure(number) {
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return number.toExponential(3);
  return String(Number(size >= 1000 ? number.toFixed(0) : number.toPrecision(4)));
}

// A name that may wrap after its underscores.
export function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}
