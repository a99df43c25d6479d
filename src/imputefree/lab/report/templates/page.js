"use strict";
// What can be clicked: the theme, the lists to choose from, the ticks of legends.
// Everything is on the page already; this only shows, hides and fits.
(() => {
  const root = document.documentElement;
  root.classList.add("enhanced");

  // Theme: the system's until the button says otherwise; then kept, where the browser lets one.
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try { return localStorage.getItem("imputefree-theme"); } catch { return null; }
  };
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const showTheme = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    button.setAttribute("aria-pressed", String(isDark()));
  };
  if (["light", "dark"].includes(kept())) root.dataset.theme = kept();
  showTheme();
  system.addEventListener("change", showTheme);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("imputefree-theme", root.dataset.theme); } catch { /* not kept */ }
    showTheme();
  });

  // One panel at a time.
  for (const select of document.querySelectorAll("select[data-choose]")) {
    const panels = select.closest(".choice").querySelectorAll(":scope > [data-panel]");
    const show = () => {
      for (const panel of panels) panel.hidden = panel.dataset.panel !== select.value;
    };
    select.addEventListener("change", show);
    show();
  }

  // Ticks of a legend show and hide what has their name in the same figure.
  for (const box of document.querySelectorAll("fieldset.legend")) {
    const figure = box.closest("figure");
    const inputs = [...box.querySelectorAll("input")];
    const charts = [...figure.querySelectorAll("svg.chart")];
    const drawn = charts.map((chart) => chart.innerHTML); // with all lines
    const update = () => {
      const on = new Set(inputs.filter((input) => input.checked).map((input) => input.value));
      charts.forEach((chart, number) => { chart.innerHTML = drawn[number]; });
      for (const part of figure.querySelectorAll("svg [data-series]")) {
        part.toggleAttribute("hidden", !on.has(part.dataset.series));
      }
      if (on.size < inputs.length) charts.forEach(fit);
    };
    box.addEventListener("change", update);
    if (inputs.some((input) => !input.checked)) update();
    for (const all of box.querySelectorAll("button[data-all]")) {
      all.addEventListener("click", () => {
        for (const input of inputs) input.checked = all.dataset.all === "on";
        update();
      });
    }
  }

  // Fit the y-axis of a chart to the lines that are shown: move their points, draw new ticks.
  function fit(chart) {
    const [low, high, top, bottom, left, right] =
      ["low", "high", "top", "bottom", "left", "right"].map((name) => Number(chart.dataset[name]));
    const shown = [...chart.querySelectorAll("[data-series]:not([hidden])")];
    const paths = shown.flatMap((line) => [...line.querySelectorAll("path")]);
    const marks = shown.flatMap((line) => [...line.querySelectorAll("use")]);
    const pairs = /(-?[\d.]+) (-?[\d.]+)/g;
    const ys = paths.flatMap((path) => [...path.getAttribute("d").matchAll(pairs)].map((pair) => Number(pair[2])));
    if (!ys.length) return;
    const value = (y) => low + ((bottom - y) * (high - low)) / (bottom - top);
    let from = value(Math.max(...ys)), to = value(Math.min(...ys));
    const pad = 0.05 * (to - from) || Math.abs(to) * 0.05 || 0.5;
    from -= pad;
    to += pad;
    const place = (number) => (bottom - ((number - from) * (bottom - top)) / (to - from)).toFixed(1);
    for (const path of paths) {
      const moved = path.getAttribute("d").replace(pairs, (_, x, y) => `${x} ${place(value(Number(y)))}`);
      path.setAttribute("d", moved);
    }
    for (const mark of marks) mark.setAttribute("y", place(value(Number(mark.getAttribute("y")))));
    const axis = chart.querySelector(".ticks-y");
    axis.replaceChildren();
    for (const number of ticks(from, to)) {
      const y = place(number);
      axis.append(
        shape("path", { d: `M${left} ${y}H${right}`, class: "grid" }),
        shape("text", { x: left - 6, y: Number(y) + 4, class: "tick end" }, String(number)),
      );
    }
  }

  function ticks(low, high, about = 5) {
    const raw = (high - low) / about || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((one) => one * power >= 0.7 * raw) || 10);
    const made = [];
    for (let at = Math.ceil(low / step - 1e-9); at <= Math.floor(high / step + 1e-9); at += 1) {
      made.push(Number((at * step).toPrecision(10)));
    }
    return made;
  }

  function shape(name, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }
})();
