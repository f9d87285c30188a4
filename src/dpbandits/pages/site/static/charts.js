// Draws the figures of a page. What is drawn of each is in a script of its own, charts/PAPER/NAME.js,
// since a page that is opened from a disk may load scripts and no data.
"use strict";

const figures = {};

const NS = "http://www.w3.org/2000/svg";
const PUBLISHED = "published";
const MARGIN = {right: 16, top: 12, bottom: 46};
const RAISED = Object.fromEntries([..."0123456789-"].map((sign, at) => [sign, "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"[at]]));

const data = (id) => figures[id] ?? JSON.parse(document.getElementById(id).textContent);

// Appends an element of SVG, or of HTML where the parent is HTML, and returns it.
function add(parent, tag, attributes = {}, text = "") {
  const isSvg = tag === "svg" || parent.namespaceURI === NS;
  const made = isSvg ? document.createElementNS(NS, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return parent.appendChild(made);
}

// Numbers as the rest of the site has them: three digits, powers of ten, thousands.
function readable(value, digits = 3) {
  if (typeof value !== "number") return String(value);
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const raised = `10${[...String(Number(power))].map((sign) => RAISED[sign]).join("")}`;
    return Number(mantissa) === 1 ? raised : `${Number(mantissa)}×${raised}`;
  }
  return Number(value.toPrecision(Math.max(digits, 7 * Number.isInteger(value)))).toLocaleString("en", {maximumFractionDigits: 10});
}

const corners = (count, turn, radii = [1]) => Array.from({length: count}, (_, at) => {
  const [angle, r] = [turn + 2 * Math.PI * at / count, radii[at % radii.length]];
  return [r * Math.sin(angle), -r * Math.cos(angle)];
});
const plus = [[-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1], [-1, -1]].map(([x, y]) => [x / 3, y / 3]);
const OUTLINES = {
  "s": corners(4, Math.PI / 4, [1.15]), "D": corners(4, 0, [1.2]), "^": corners(3, 0, [1.25]), "v": corners(3, Math.PI, [1.25]),
  "<": corners(3, -Math.PI / 2, [1.25]), ">": corners(3, Math.PI / 2, [1.25]), "p": corners(5, 0, [1.1]), "h": corners(6, 0, [1.1]),
  "*": corners(10, 0, [1.35, 0.55]), "P": plus, "X": plus.map(([x, y]) => [(x - y) * 0.75, (x + y) * 0.75]),
};

function mark(parent, line, x, y, size = 3.6) {
  const inside = line.fill === "open" ? "#fff" : line.colour;
  const look = {fill: inside, stroke: line.colour, "stroke-width": line.fill === "full" ? 0.4 : 1.3, "fill-opacity": line.fill === "half" ? 0.35 : 1};
  if (line.marker === "o") return add(parent, "circle", {cx: x, cy: y, r: size, ...look});
  const points = OUTLINES[line.marker].map(([dx, dy]) => `${(x + size * dx).toFixed(1)},${(y + size * dy).toFixed(1)}`);
  return add(parent, "polygon", {points: points.join(" "), ...look});
}

// The short line with a mark that stands for a series in legends.
function swatch(parent, line) {
  const drawn = add(parent, "svg", {class: "swatch", viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true"});
  if (line.dash) add(drawn, "line", {x1: 1, x2: 33, y1: 7, y2: 7, stroke: line.colour, "stroke-width": 1.8, "stroke-dasharray": line.dash.map((part) => 1.8 * part).join(" ")});
  if (line.marker !== "none") mark(drawn, line, 17, 7, 4);
}

function ticksOf(low, high, isLog, count) {
  const found = [];
  if (isLog) {
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const every = Math.ceil((last - first + 1) / count);
    for (let power = first; power <= last; power += every) for (const part of last - first > 2 ? [1] : last - first > 1 ? [1, 3] : [1, 2, 5]) found.push(part * 10 ** power);
  } else {
    const rough = (high - low) / count;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((part) => part * unit >= rough);
    for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); at += 1) found.push(Number((at * step).toPrecision(12)));
  }
  return found.filter((value) => value >= low * (1 - 1e-9 * Math.sign(low)) && value <= high * (1 + 1e-9 * Math.sign(high)));
}

function tickLabel(value, largest, isLog) {
  if (isLog && value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3)) {
    const power = Math.floor(Math.log10(value) + 1e-9);
    const part = Number((value / 10 ** power).toPrecision(3));
    return `${part === 1 ? "" : `${part}×`}10${[...String(power)].map((sign) => RAISED[sign]).join("")}`;
  }
  const [unit, name] = isLog || largest < 1e5 || value === 0 ? [1, ""] : largest >= 1e6 ? [1e6, "M"] : [1e3, "k"];
  return readable(value / unit, 4) + name;
}

// One axis: where a value is on the page, and its ticks. Values that a logarithm lacks have no place.
// Limits may descend; ticks may be named.
function axisOf(spec, values, isLog, start, end, count) {
  const has = (value) => Number.isFinite(value) && (!isLog || value > 0);
  const kept = values.filter(has);
  let [low, high] = kept.length ? [Math.min(...kept), Math.max(...kept)] : [1, 10];
  const transform = isLog ? Math.log10 : (value) => value;
  const back = isLog ? (value) => 10 ** value : (value) => value;
  const room = 0.04 * (transform(high) - transform(low)) || (isLog ? 0.2 : Math.abs(low) / 10 || 1);
  [low, high] = [back(transform(low) - room), back(transform(high) + room)];
  const [least, most] = spec.limits;
  const isReversed = least !== null && most !== null && least > most;
  if (least !== null && has(least)) low = least;
  if (most !== null && has(most) && (isReversed || most > low)) high = most;
  const at = (value) => start + (end - start) * (transform(value) - transform(low)) / (transform(high) - transform(low));
  const [from, to] = [Math.min(low, high), Math.max(low, high)];
  const named = new Map(spec.ticks ?? []);
  const ticks = spec.ticks ? [...named].filter(([value]) => has(value) && value >= from && value <= to) : ticksOf(from, to, isLog, count).map((value) => [value, tickLabel(value, to, isLog)]);
  return {at, ticks, has, name: (value) => named.get(value) ?? readable(value)};
}

let charts = 0;

// A panel. `state` has the keys of hidden series and which axes are logarithmic; draw() follows it.
class Chart {
  constructor(parent, panel, state) {
    Object.assign(this, {panel, state, number: charts += 1, current: null});
    this.box = add(parent, "figure", {class: "chart", "data-stem": panel.stem});
    if (panel.title) add(this.box, "figcaption", {}, panel.title);
    const names = [...new Set(panel.series.map((line) => line.label).filter(Boolean))].join(", ");
    this.plot = add(this.box, "div", {class: "plot", tabindex: 0, role: "group", "aria-label": `${panel.title || "Chart"}: ${panel.y.label} against ${panel.x.label}; ${names}. Arrow keys read the points.`});
    this.tip = add(this.box, "div", {class: "tip", role: "status", hidden: ""});
    this.plot.addEventListener("pointermove", (event) => this.hover(event));
    this.plot.addEventListener("pointerdown", (event) => this.hover(event));
    this.plot.addEventListener("pointerleave", () => this.show(null));
    this.plot.addEventListener("blur", () => this.show(null));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.box.clientWidth !== this.width && this.draw()).observe(this.box);
    this.draw();
  }

  draw() {
    this.width = this.box.clientWidth;
    const {panel, state} = this;
    const [width, height] = [Math.max(this.width, 260), Math.round(Math.max(250, Math.min(360, 0.6 * this.width), 60 + 15 * (panel.y.ticks?.length ?? 0)))];
    this.lines = panel.series.filter((line) => !state.hidden.has(keyOf(line)));
    const shown = this.lines.length ? this.lines : panel.series;
    const isLog = {x: state.x ?? panel.x.scale === "log", y: state.y ?? panel.y.scale === "log"};
    const isNamed = panel.x.scale === "categories";
    if (isNamed) isLog.x = false;
    // Names that do not fit side by side are set aslant.
    const names = (panel.x.ticks ?? []).map(([, name]) => name);
    const isSlanted = 6.6 * names.join("  ").length > width - 70 && names.some((name) => name.length > 6);
    const longest = isSlanted ? Math.max(...names.map((name) => name.length)) : 0;
    const right = width - MARGIN.right, bottom = height - MARGIN.bottom - 4 * longest;
    const y = this.y = axisOf(panel.y, shown.flatMap((line) => [...line.y, ...(line.lo ?? []), ...(line.hi ?? [])]), isLog.y, bottom, MARGIN.top, isLog.y ? 7 : 6);
    // Long names on a narrow page are small, and have half of it.
    const isNarrow = width < 480 && panel.y.ticks;
    const left = Math.min(width / (isNarrow ? 2 : 3), 34 + (isNarrow ? 5.4 : 6.6) * Math.max(...y.ticks.map(([, label]) => label.length), 2));
    const x = this.x = axisOf(panel.x, isNamed ? [-0.5, panel.x.ticks.length - 0.5] : shown.flatMap((line) => line.x), isLog.x, left, right, (isLog.x ? 8 : 6) - (width < 420 ? 2 : 0));
    this.plot.replaceChildren();
    const drawn = this.svg = add(this.plot, "svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true"});
    if (panel.x.shaded) {
      const [from, to] = panel.x.shaded.map((value) => Math.min(right, Math.max(left, x.at(value))));
      add(drawn, "rect", {x: from, y: MARGIN.top, width: Math.max(0, to - from), height: bottom - MARGIN.top, fill: "#888", opacity: 0.16});
    }
    for (const [value, label] of y.ticks) {
      add(drawn, "line", {x1: left, x2: right, y1: y.at(value), y2: y.at(value), class: "grid"});
      add(drawn, "text", {x: left - 7, y: y.at(value) + 4, "text-anchor": "end", class: isNarrow ? "small" : ""}, label);
    }
    let free = -Infinity;
    for (const [value, label] of x.ticks) {
      add(drawn, "line", {x1: x.at(value), x2: x.at(value), y1: bottom, y2: bottom + 4, class: "axis"});
      if (isSlanted) {
        if (x.at(value) < free) continue;
        free = x.at(value) + 13;
        add(drawn, "text", {transform: `translate(${x.at(value) + 4} ${bottom + 14}) rotate(-40)`, "text-anchor": "end"}, label);
        continue;
      }
      const half = 3.4 * label.length;
      if (x.at(value) - half < free) continue;
      free = x.at(value) + half + 4;
      add(drawn, "text", {x: x.at(value), y: bottom + 17, "text-anchor": "middle"}, label);
    }
    add(drawn, "path", {d: `M${left},${MARGIN.top}V${bottom}H${right}`, class: "axis", fill: "none"});
    const middle = Math.min((left + right) / 2, width - 3.4 * panel.x.label.length);
    add(drawn, "text", {x: middle, y: height - 8, "text-anchor": "middle", class: "label"}, panel.x.label);
    add(drawn, "text", {transform: `translate(14 ${(MARGIN.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label"}, panel.y.label);
    const clip = `clip-${this.number}`;
    add(add(drawn, "clipPath", {id: clip}), "rect", {x: left - 5, y: MARGIN.top - 5, width: right - left + 10, height: bottom - MARGIN.top + 10});
    const inside = add(drawn, "g", {"clip-path": `url(#${clip})`});
    for (const area of panel.areas ?? []) this.area(inside, area);
    this.lines.forEach((line, index) => this.series(inside, line, index));
    const texts = (panel.texts ?? []).map((text) => ({...text, at: x.at(text.x), anchor: "middle"})).sort((a, b) => a.y - b.y || a.at - b.at);
    texts.forEach((text, index) => {
      // Two that would overlap are the names of the two sides of a line.
      const next = texts[index + 1];
      if (next?.y === text.y && next.at - text.at < 3 * (text.text.length + next.text.length)) [text.anchor, next.anchor] = ["end", "start"];
      add(inside, "text", {x: text.at, y: y.at(text.y) + 4, "text-anchor": text.anchor, class: "within"}, text.text);
    });
    this.ring = add(drawn, "circle", {r: 7, class: "ring", visibility: "hidden"});
    this.show(null);
  }

  area(parent, {points, colour, opacity, hatched}) {
    // A logarithm has no place for 0: the area ends at the edge of the panel.
    const place = (axis, value, edge) => axis.has(value) ? axis.at(value) : edge;
    const corners = points.map(([px, py]) => `${place(this.x, px, 0).toFixed(1)},${place(this.y, py, 1e4).toFixed(1)}`);
    add(parent, "polygon", {points: corners.join(" "), class: "area", fill: colour, opacity: hatched ? opacity / 2 : opacity});
  }

  series(parent, line, index) {
    const {x, y} = this;
    const group = add(parent, "g", {"data-series": line.name});
    const places = line.x.map((value, at) => [x.at(value), y.at(line.y[at]), at]).filter(([, , at]) => x.has(line.x[at]) && y.has(line.y[at]));
    const path = (points) => points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join("L");
    const end = (at, key) => y.at(y.has(line[key][at]) ? line[key][at] : line.y[at]);
    if (line.lo && !line.marks) {
      const ends = ["lo", "hi"].map((key) => places.map(([px, , at]) => [px, end(at, key)]));
      add(group, "path", {d: `M${path(ends[0])}L${path(ends[1].reverse())}Z`, fill: line.colour, opacity: 0.2});
    }
    if (line.dash && places.length) add(group, "path", {d: `M${path(places)}`, fill: "none", stroke: line.colour, "stroke-width": 1.7, "stroke-dasharray": line.dash.map((part) => 1.7 * part).join(" ")});
    if (line.lo && line.marks) for (const [px, , at] of places) add(group, "path", {d: `M${px},${end(at, "lo")}V${end(at, "hi")}`, stroke: line.colour, "stroke-width": 1.2});
    if (line.marker === "none") return;
    let last = [-Infinity, 0];
    const isFew = line.marks || places.length <= 8;
    // On a dense exact curve nothing was computed at some places alone.
    if (!isFew && line.runs === 0) return;
    places.forEach(([px, py], at) => {
      if (!isFew && (Math.hypot(px - last[0], py - last[1]) < 70 || px - places[0][0] < 9 * index)) return;
      last = [px, py];
      mark(group, line, px, py, line.variant === PUBLISHED ? 4.4 : 3.6);
    });
  }

  hover(event) {
    const frame = this.svg.getBoundingClientRect();
    const ratio = this.svg.viewBox.baseVal.width / frame.width;
    const [px, py] = [(event.clientX - frame.left) * ratio, (event.clientY - frame.top) * ratio];
    let [best, least] = [null, 45 ** 2];
    for (const line of this.lines) if (line.label) line.x.forEach((value, at) => {
      if (!this.x.has(value) || !this.y.has(line.y[at])) return;
      // What is published is drawn above what is rebuilt.
      const far = (this.x.at(value) - px) ** 2 + (this.y.at(line.y[at]) - py) ** 2 - (line.variant === PUBLISHED ? 25 : 0);
      if (far < least) [best, least] = [{line, at}, far];
    });
    this.show(best);
  }

  key(event) {
    const steps = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key];
    if (event.key === "Escape") this.show(null);
    if (!steps || !this.lines.length) return;
    event.preventDefault();
    const lines = this.lines.filter((line) => line.label);
    const {line, at} = this.current ?? {line: lines[0], at: -steps[0]};
    const next = lines[(lines.indexOf(line) + steps[1] + lines.length) % lines.length];
    this.show({line: next, at: Math.min(next.x.length - 1, Math.max(0, at + steps[0]))});
  }

  show(point) {
    this.current = point;
    this.tip.hidden = point === null;
    this.ring.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) return;
    const {line, at} = point;
    const [px, py] = [this.x.at(line.x[at]), this.y.at(line.y[at])];
    this.ring.setAttribute("cx", px);
    this.ring.setAttribute("cy", py);
    this.tip.replaceChildren();
    add(this.tip, "strong", {}, line.label);
    if (line.interpretation) add(this.tip, "span", {}, line.interpretation);
    add(this.tip, "span", {}, `${this.panel.x.label || "x"}: ${this.x.name(line.x[at])}`);
    const ends = line.lo ? ` [${readable(line.lo[at])}, ${readable(line.hi[at])}]` : "";
    add(this.tip, "span", {}, `${this.panel.y.label || "y"}: ${this.y.name(line.y[at])}${ends}`);
    const runs = Array.isArray(line.runs) ? line.runs[at] : line.runs;
    if (line.variant === PUBLISHED) add(this.tip, "span", {}, "digitised, with the digitisation error");
    else if (runs !== null && runs !== undefined) add(this.tip, "span", {}, runs ? `${readable(runs, 7)} runs` : "exact");
    if (line.difference) add(this.tip, "span", {}, `rebuilt minus published: ${readable(line.difference[at])} (${line.agreement[at]})`);
    const [room, scale] = [this.box.clientWidth, this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width];
    this.tip.style.left = `${Math.max(0, Math.min(room - this.tip.offsetWidth, px * scale + (px * scale > room / 2 ? -this.tip.offsetWidth - 14 : 14)))}px`;
    this.tip.style.top = `${this.plot.offsetTop + py * scale + 12}px`;
  }
}

const keyOf = (line) => line.variant === PUBLISHED ? "published, digitised" : line.label;

// The part of the address after "?" says what is shown: the view, hidden series, logarithmic axes.
function remember(changes) {
  const asked = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value) asked.set(key, value);
    else asked.delete(key);
  }
  const text = asked.toString();
  history.replaceState(null, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
}

// A figure: its views (variants), its axes, and the series of all its panels or of one.
function drawFigure(box) {
  const wanted = box.dataset.panel || location.hash.slice(1);
  let views = data(box.dataset.figure);
  const letters = new Set(views.flatMap((view) => view.panels.filter((panel) => panel.stem === box.dataset.panel).map((panel) => panel.letter)));
  if (letters.size) views = views.map((view) => ({...view, panels: view.panels.filter((panel) => letters.has(panel.letter))})).filter((view) => view.panels.length);
  const asked = new URLSearchParams(location.search);
  const unseen = views.flatMap((view) => view.panels.flatMap((panel) => panel.series.filter((line) => line.hidden).map(keyOf)));
  const state = {hidden: new Set(asked.has("hide") ? asked.getAll("hide")[0].split("|") : unseen), x: null, y: null};
  for (const which of ["x", "y"]) state[which] = asked.has(which) ? asked.get(which) === "log" : null;
  const controls = add(box, "form", {class: "controls"});
  controls.addEventListener("submit", (event) => event.preventDefault());
  const [legend, panels] = [add(box, "div", {class: "legend", role: "group", "aria-label": "Series"}), add(box, "div", {class: "panels"})];
  let drawn = [];
  const redraw = () => drawn.forEach((chart) => chart.draw());
  const choose = (view) => {
    panels.replaceChildren();
    legend.replaceChildren();
    const lines = new Map(view.panels.flatMap((panel) => panel.series).filter((line) => line.label).map((line) => [keyOf(line), line]));
    for (const [key, line] of lines) {
      const button = add(legend, "button", {type: "button", "aria-pressed": !state.hidden.has(key)});
      swatch(button, key === keyOf({variant: PUBLISHED}) ? {...line, colour: "#000"} : line);
      add(button, "span", {}, key);
      button.addEventListener("click", () => {
        if (!state.hidden.delete(key)) state.hidden.add(key);
        button.setAttribute("aria-pressed", !state.hidden.has(key));
        remember({hide: [...state.hidden].join("|")});
        redraw();
      });
    }
    const areas = new Map(view.panels.flatMap((panel) => panel.areas ?? []).filter((area) => area.label).map((area) => [area.label, area]));
    for (const [label, area] of areas) {
      const entry = add(legend, "span", {class: "entry"});
      add(entry, "span", {class: "box", style: `background: ${area.colour}; opacity: ${area.opacity}`});
      add(entry, "span", {}, label);
    }
    panels.classList.toggle("single", view.panels.length === 1);
    drawn = view.panels.map((panel) => new Chart(panels, panel, state));
    for (const part of document.querySelectorAll("[data-view]")) part.hidden = views.length > 1 && part.dataset.view !== view.name;
  };
  if (views.length > 1) {
    const field = add(controls, "fieldset");
    add(field, "legend", {}, "Played");
    views.forEach((view, index) => {
      const label = add(field, "label");
      const radio = add(label, "input", {type: "radio", name: "view", value: index});
      add(label, "span", {}, view.label);
      radio.addEventListener("change", () => { remember({view: view.label}); choose(view); });
    });
  }
  const field = add(controls, "fieldset");
  add(field, "legend", {}, "Logarithmic");
  for (const which of ["x", "y"]) {
    const axes = views.flatMap((view) => view.panels.map((panel) => panel[which]));
    // Named ticks are places of a list, or of the one scale that they were named for.
    if (axes.some((axis) => axis.scale === "categories" || axis.ticks?.some(([value, name]) => Number(name.replaceAll(",", "")) !== value))) continue;
    const scales = axes.map((axis) => axis.scale);
    const label = add(field, "label");
    const tick = add(label, "input", {type: "checkbox", name: which});
    tick.checked = state[which] ?? scales.every((scale) => scale === "log");
    tick.indeterminate = state[which] === null && !tick.checked && scales.includes("log");
    add(label, "span", {}, `${which} axis`);
    tick.addEventListener("change", () => { state[which] = tick.checked; remember({[which]: tick.checked ? "log" : "linear"}); redraw(); });
  }
  if (field.children.length === 1) field.remove();
  // An address that ends in the name of a panel opens its variant, there.
  const named = asked.has("view") ? views.findIndex((view) => view.label === asked.get("view")) : views.findIndex((view) => view.panels.some((panel) => panel.stem === wanted));
  const first = Math.max(0, named);
  if (views.length > 1) controls.elements.view[first].checked = true;
  choose(views[first]);
  if (!box.dataset.panel) box.querySelector(`[data-stem="${CSS.escape(wanted)}"]`)?.scrollIntoView();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-figure]").forEach(drawFigure);
  document.querySelectorAll("[data-look]").forEach((box) => swatch(box, JSON.parse(box.dataset.look)));
});
