// Redraws, with the chart of charts.js, what ticked switches change.
"use strict";

// One switch at a time: each algorithm's number with the ticked switches, where it is computed.
function drawSwitches(box) {
  const {algorithms, x, y} = data(box.dataset.switches);
  const [form, said] = [document.getElementById(box.dataset.form), add(box, "ul", {class: "said", "aria-live": "polite"})];
  const place = add(box, "div", {class: "panels single"});
  const redraw = () => {
    const names = [...form.querySelectorAll("input:checked")].map((input) => input.value.split("|"));
    const base = {variant: "", interpretation: "", marks: true, dash: null, marker: "o", colour: "#0173b2", runs: 0};
    const drawn = {...base, name: "as drawn", label: "as drawn", fill: "open", colour: "#555", x: [], y: [], lo: [], hi: []};
    const now = {...base, name: "with the ticked switches", label: "with the ticked switches", fill: "full", x: [], y: [], lo: [], hi: []};
    const put = (line, at, [value, low, high], shift) => [[line.x, at], [line.y, value + shift], [line.lo, low + shift], [line.hi, high + shift]].forEach(([list, item]) => list.push(item));
    said.replaceChildren();
    algorithms.forEach((own, at) => {
      const ticked = names.filter(([name]) => name === own.id).map(([, id]) => id);
      const others = ticked.filter((id) => id !== own.shift?.id).sort();
      const shift = own.shift && !ticked.includes(own.shift.id) ? own.shift.amount : 0;
      const found = others.length ? own.switches.find((one) => one.ids.join() === others.join())?.value : own.coded;
      put(drawn, at, own.coded, own.shift?.amount ?? 0);
      if (found) put(now, at, found, shift);
      if (!ticked.length) return;
      const item = add(said, "li", {class: found ? "" : "unknown"});
      item.textContent = found ? `${own.name} with ${ticked.join(" and ")}: ${readable(found[0] + shift)} [${readable(found[1] + shift)}, ${readable(found[2] + shift)}]; as drawn ${readable(own.coded[0] + (own.shift?.amount ?? 0))}.` : `${own.name} with ${others.join(" and ")} together: not computed.`;
    });
    const panel = {title: "", stem: "switched", x: {label: x, scale: "categories", limits: [null, null], ticks: algorithms.map((own, at) => [at, own.name])}, y: {label: y, scale: "log", limits: [null, null]}, series: [drawn, now]};
    place.replaceChildren();
    new Chart(place, panel, {hidden: new Set(), x: null, y: null});
  };
  const boxes = [...form.querySelectorAll("input")];
  const asked = new URLSearchParams(location.search).get("ticked")?.split(",") ?? [];
  for (const input of boxes) input.checked = asked.includes(input.value);
  form.addEventListener("change", () => {
    remember({ticked: boxes.filter((input) => input.checked).map((input) => input.value).join(",")});
    redraw();
  });
  redraw();
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-switches]").forEach(drawSwitches));
