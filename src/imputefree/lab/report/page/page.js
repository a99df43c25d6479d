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

  // Ticks of a legend: what bears the name in the same figure.
  for (const box of document.querySelectorAll("fieldset.legend")) {
    const figure = box.closest("figure");
    const inputs = [...box.querySelectorAll("input")];
    const update = () => {
      const on = new Set(inputs.filter((one) => one.checked).map((one) => one.value));
      for (const part of figure.querySelectorAll("svg [data-series]")) {
        part.toggleAttribute("hidden", !on.has(part.dataset.series));
      }
      for (const chart of figure.querySelectorAll("svg.chart")) fit(chart);
    };
    box.addEventListener("change", update);
    if (inputs.some((one) => !one.checked)) update();
    for (const all of box.querySelectorAll("button[data-all]")) {
      all.addEventListener("click", () => {
        for (const one of inputs) one.checked = all.dataset.all === "on";
        update();
      });
    }
  }

  // The upright axis of a chart for the lines that are shown; as svg.py draws it for all.
  function fit(chart) {
    const ends = [];
    for (const point of chart.querySelectorAll("[data-series]:not([hidden]) .point")) {
      const y = Number(point.dataset.y), sd = Number(point.dataset.sd || 0);
      ends.push(y - sd, y + sd);
    }
    if (!ends.length) return;
    let low = Math.min(...ends), high = Math.max(...ends);
    const pad = 0.05 * (high - low) || Math.abs(high) * 0.05 || 0.5;
    low -= pad;
    high += pad;
    const top = Number(chart.dataset.top), bottom = Number(chart.dataset.bottom);
    const scale = (bottom - top) / (high - low);
    const up = (y) => (bottom - (y - low) * scale).toFixed(1);
    for (const line of chart.querySelectorAll("[data-series]:not([hidden])")) {
      const places = [];
      for (const point of line.querySelectorAll(".point")) {
        const x = point.dataset.x, y = up(Number(point.dataset.y));
        point.setAttribute("transform", `translate(${x} ${y})`);
        places.push(`${x},${y}`);
        const whisker = point.querySelector(".whisker");
        if (whisker) {
          const half = (Number(point.dataset.sd) * scale).toFixed(1);
          whisker.setAttribute("d", `M-3 ${-half}h6m-3 0V${half}m-3 0h6`);
        }
      }
      line.querySelector(".line").setAttribute("d", "M" + places.join(" "));
    }
    const marks = chart.querySelector(".ticks-y");
    marks.replaceChildren();
    for (const y of ticks(low, high)) {
      const place = { left: Number(chart.dataset.left), right: chart.dataset.right, y: up(y) };
      marks.append(
        shape("path", { d: `M${place.left} ${place.y}H${place.right}`, class: "grid" }),
        shape("text", { x: place.left - 6, y: (bottom - (y - low) * scale + 4).toFixed(1), class: "tick end" }, String(y)),
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
