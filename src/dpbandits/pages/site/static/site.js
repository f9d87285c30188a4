// Searches and filters lists, sorts tables, and copies commands.
"use strict";

// An item is shown that has every word, and what is chosen.
function search(form) {
  const items = [...document.querySelectorAll("[data-item]")];
  const fields = [...form.elements].filter((field) => field.name);
  const value = (name) => form.elements[name]?.value ?? "";
  const asked = new URLSearchParams(location.search);
  for (const field of fields) field.value = asked.get(field.name) ?? "";
  const filter = () => {
    const wanted = value("words").toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.hidden = !(wanted.every((word) => text.includes(word)) && ["paper", "kind", "verdict"].every((name) => !value(name) || item.dataset[name] === value(name)));
    }
    for (const part of document.querySelectorAll("[data-part]")) part.hidden = !part.querySelector("[data-item]:not([hidden])");
    document.getElementById("shown").textContent = `${items.filter((item) => !item.hidden).length} of ${items.length}`;
  };
  form.addEventListener("input", () => {
    const chosen = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    history.replaceState(null, "", `${location.pathname}?${chosen}`);
    filter();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}

// What a cell is sorted by: its first number, or else its text.
function sortKey(cell) {
  const exact = cell.querySelector("data")?.value;
  const raised = (text) => `e${[...text].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign)).map((digit) => digit < 0 ? "-" : digit).join("")}`;
  const text = cell.textContent.trim().replace(/(\d),(?=\d{3})/g, "$1").replace(/×10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)/g, (_, power) => raised(power)).replace(/(?<!\d)10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)/g, (_, power) => `1${raised(power)}`);
  const number = exact ?? text.match(/-?\d+(\.\d+)?(e-?\d+)?/)?.[0];
  const isNumber = exact !== undefined || /^[^\p{L}]{0,2}-?\d/u.test(text);
  return isNumber ? [0, Number(number), ""] : [1, 0, text];
}

function sortable(table) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 3) return;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const isUp = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      keyed.sort(([a], [b]) => (isUp ? 1 : -1) * (a[0] - b[0] || a[1] - b[1] || a[2].localeCompare(b[2])));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

// Where there is no clipboard, the command is selected to be copied by hand.
async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
  }
}

document.querySelectorAll("[data-search]").forEach(search);
document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", () => copy(button)));
