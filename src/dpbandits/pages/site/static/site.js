// Searches and filters the claims, and copies commands.
"use strict";

// A claim is shown that has every word, and one row with the chosen variant and verdict.
function search(form) {
  const items = [...document.querySelectorAll("[data-rows]")];
  const {words, paper, kind, variant, verdict} = form.elements;
  const asked = new URLSearchParams(location.search);
  for (const field of [words, paper, kind, variant, verdict]) field.value = asked.get(field.name) ?? "";
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      const rows = item.dataset.rows.split("|").map((row) => row.split(":"));
      const isChosen = rows.some(([its, word]) => (!variant.value || its === variant.value) && (!verdict.value || word === verdict.value));
      item.hidden = !(isChosen && wanted.every((word) => text.includes(word)) && [paper, kind].every((field) => !field.value || item.dataset[field.name] === field.value));
    }
    for (const part of document.querySelectorAll("[data-paper-part]")) part.hidden = !part.querySelector("[data-rows]:not([hidden])");
    document.getElementById("shown").textContent = `${items.filter((item) => !item.hidden).length} of ${items.length} claims`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
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
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", () => copy(button)));
