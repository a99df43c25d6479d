// A model card as elements: the headings, paragraphs, lists, tables and code of its Markdown.
// Everything is made as text, so that nothing in a card is ever read as HTML.

import { make } from "./dom.js";

export function card(markdown) {
  const lines = markdown.replaceAll("\r", "").split("\n");
  const elements = [];
  let at = 0;
  const take = (is) => {
    const taken = [];
    while (at < lines.length && is(lines[at])) taken.push(lines[at++]);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,4}) +(.*)$/.exec(line);
    if (line.trim() === "") at += 1;
    else if (heading) {
      elements.push(make(`h${Math.min(heading[1].length + 2, 5)}`, {}, ...inline(heading[2])));
      at += 1;
    } else if (/^ {4}/.test(line)) {
      elements.push(make("pre", {}, take((next) => /^ {4}/.test(next)).map((next) => next.slice(4)).join("\n")));
    } else if (isRow(line)) elements.push(table(take(isRow)));
    else if (isItem(line)) {
      const items = take(isItem).map((item) => make("li", {}, ...inline(item.replace(/^ *[-*] /, ""))));
      elements.push(make("ul", {}, ...items));
    } else {
      const first = [lines[at++]];
      const rest = take((next) => next.trim() !== "" && !isRow(next) && !isItem(next) && !next.startsWith("#"));
      elements.push(make("p", {}, ...inline([...first, ...rest].join(" "))));
    }
  }
  return elements;
}

const isRow = (line) => line.startsWith("|");
const isItem = (line) => /^ *[-*] /.test(line);

function cells(line) {
  const inner = line.trim().replace(/^\||\|$/g, "");
  return inner.match(/(\\.|[^|])*(\||$)/g).slice(0, -1).map((cell) => cell.replace(/\|$/, "").trim());
}

function table(lines) {
  const rule = lines.findIndex((line) => /^[|:\- ]+$/.test(line));
  const right = rule < 0 ? [] : cells(lines[rule]).map((mark) => mark.endsWith(":"));
  const row = (line, head) => make("tr", {}, ...cells(line).map((cell, i) => make(
    head || i === 0 ? "th" : "td",
    { scope: head ? "col" : i === 0 ? "row" : null, class: right[i] ? "figure" : null },
    ...inline(cell),
  )));
  const head = lines.slice(0, Math.max(rule, 0)).map((line) => row(line, true));
  const body = lines.slice(rule + 1).map((line) => row(line, false));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of the model card" },
    make("table", {}, make("thead", {}, ...head), make("tbody", {}, ...body)));
}

// `code`, `` co`de `` and **bold**; anything else is text.
function inline(text) {
  const parts = text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*([^*]+)\*\*|\\([\\`*_|\]])|&(lt|amp);|[^]/gu);
  const elements = [];
  for (const [whole, fence, code, bold, escaped, entity] of parts) {
    const letter = escaped ?? { lt: "<", amp: "&" }[entity] ?? whole;
    if (fence) elements.push(make("code", {}, fence.length > 1 ? code.trim() : code));
    else if (bold) elements.push(make("strong", {}, bold));
    else if (typeof elements.at(-1) === "string") elements.push(elements.pop() + letter);
    else elements.push(letter);
  }
  return elements;
}
