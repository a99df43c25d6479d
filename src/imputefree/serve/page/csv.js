// Read and write CSV.

// Parse into lists of cells; separated by commas, semicolons or tabs, whichever the first line has.
export function parse(text) {
  const source = text.replace(/^\uFEFF/, "");
  const mark = separator(source);
  const lines = [];
  let cells = [];
  let cell = "";
  let at = 0;
  const endLine = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0].trim() !== "") lines.push(cells);
    cells = [];
    cell = "";
  };
  while (at < source.length) {
    const letter = source[at];
    if (letter === '"' && cell === "") {
      let end = at + 1;
      while (end < source.length) {
        if (source[end] !== '"') end += 1;
        else if (source[end + 1] === '"') end += 2;
        else break;
      }
      if (end >= source.length) throw new Error("A quotation mark is never closed.");
      cell = source.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      continue;
    }
    if (letter === mark) {
      cells.push(cell);
      cell = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && source[at + 1] === "\n") at += 1;
      endLine();
    } else {
      cell += letter;
    }
    at += 1;
  }
  if (cell !== "" || cells.length) endLine();
  return lines;
}

function separator(text) {
  const first = text.split(/\r?\n|\r/, 1)[0];
  const count = (mark) => first.split(mark).length;
  return [",", ";", "\t"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

// Cells as CSV with commas; cells are quoted where needed.
export function write(lines) {
  const quoted = (cell) => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}
