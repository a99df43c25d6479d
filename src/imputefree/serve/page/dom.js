// Small helpers: find and make elements, draw bars, format numbers.

export const byId = (id) => document.getElementById(id);

// make("p", {class: "hint"}, "text", child, …); strings are never read as HTML.
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// A bar from `from` to `to` on a line of length 1, with a mark at `at`.
export function bar(from, to, kind, at = null) {
  const part = (name, x, width) => shape("rect", { class: name, x, width, y: 0, height: 8 });
  return shape("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    part("ground", 0, 100),
    part(kind, 100 * Math.min(from, to), 100 * Math.abs(to - from)),
    at === null ? null : part("middle", 100 * at - 0.4, 0.8));
}

export function percent(share) {
  const digits = share > 0.001 && share < 0.999 ? 1 : 2;
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

// Four digits, with an exponent only for very small or large numbers.
export function figure(number) {
  const size = Math.abs(number);
  const plain = size === 0 || (size >= 1e-4 && size < 1e9);
  const text = plain ? String(Number(size >= 1000 ? size.toFixed(0) : size.toPrecision(4))) : size.toExponential(3);
  return number < 0 ? `−${text}` : text;
}

// A name that may wrap after its underscores.
export function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}

// At most `limit` names, with commas.
export function short(names, limit = 8) {
  const more = names.length - limit;
  return names.slice(0, limit).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
