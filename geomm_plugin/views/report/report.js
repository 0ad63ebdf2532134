"use strict";
// Sorts the table, and shows the words that two mappers treat differently. Words are always text.

const SHOWN = 10;
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Sorting: numbers by value, largest first; texts by the alphabet; what is empty stays last.
function sortBy(table, column) {
  const head = table.tHead.rows[0].cells;
  const numeric = head[column].classList.contains("n");
  const before = head[column].getAttribute("aria-sort");
  const ascending = before ? before === "descending" : !numeric;
  const value = (row) => {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1 || !cell.textContent) return null;
    return numeric ? parseFloat(cell.textContent.replaceAll("\u2212", "-")) : cell.textContent;
  };
  const compare = (a, b) => (numeric ? a - b : a.localeCompare(b));
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: value(row) }));
  rows.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    return compare(a.value, b.value) * (ascending ? 1 : -1);
  });
  for (const cell of head) cell.removeAttribute("aria-sort");
  head[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  table.tBodies[0].append(...rows.map(({ row }) => row));
}

for (const table of document.querySelectorAll(".sortable")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = element("button", { type: "button" }, cell.textContent);
    button.addEventListener("click", () => sortBy(table, column));
    cell.replaceChildren(button);
  });
}

// Filtering: the rows of one pair, of one retrieval, or all.
function filterRows() {
  const chosen = [...at("filters").querySelectorAll("select")].filter((select) => select.value);
  for (const row of at("numbers").tBodies[0].rows) {
    row.hidden = !chosen.every((select) => row.cells[Number(select.dataset.column)].textContent === select.value);
  }
}

if (at("filters")) {
  at("filters").hidden = false;
  at("filters").addEventListener("change", filterRows);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
}

// The attribute lang is set only to a valid language code.
function languageTag(language) {
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    return undefined;
  }
}

function word(text, language, attributes = {}) {
  return element("span", { lang: languageTag(language), dir: "auto", ...attributes }, text);
}

function answers(pair, mapper, n) {
  const gold = new Set(pair.gold[n]);
  const items = pair.answers[mapper][n].map((target) =>
    element("li", {}, word(pair.targets[target], pair.languages[1], gold.has(target) ? { class: "right" } : {})));
  const rank = pair.ranks[mapper][n];
  if (rank > items.length) items.push(element("li", { class: "rank" }, `right at rank ${rank.toLocaleString("en")}`));
  return element("ul", { class: "answers" }, ...items);
}

function wordTable(pair, rows, mappers) {
  const names = ["Word", "Right", ...mappers.map((mapper) => data.mappers[mapper])];
  const body = rows.map((n) => element("tr", {},
    element("th", { scope: "row", "data-name": names[0] }, word(pair.words[n], pair.languages[0])),
    element("td", { "data-name": names[1] },
      element("span", {}, ...pair.gold[n].flatMap((target, i) => [i ? ", " : "", word(pair.targets[target], pair.languages[1])]))),
    ...mappers.map((mapper, i) => element("td", { "data-name": names[2 + i] }, answers(pair, mapper, n)))));
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  return element("div", { class: "scroll" },
    element("table", { class: "words" }, element("thead", {}, head), element("tbody", {}, ...body)));
}

function wordList(title, pair, rows, mappers) {
  const parts = [element("h3", {}, `${title}: ${rows.length.toLocaleString("en")} words`)];
  if (!rows.length) return parts;
  const table = element("div", {}, wordTable(pair, rows.slice(0, SHOWN), mappers));
  parts.push(table);
  if (rows.length > SHOWN) {
    const more = element("button", { type: "button", class: "more" }, `Show all ${rows.length.toLocaleString("en")}`);
    more.addEventListener("click", () => {
      table.replaceChildren(wordTable(pair, rows, mappers));
      more.remove();
    });
    parts.push(more);
  }
  return parts;
}

function showChanges() {
  const [a, b] = [Number(at("first").value), Number(at("second").value)];
  const pair = data.pairs[Number(at("pair").value)];
  const isCorrect = (mapper, n) => pair.ranks[mapper][n] === 1;
  const all = pair.words.map((_, n) => n);
  const onlyA = all.filter((n) => isCorrect(a, n) && !isCorrect(b, n));
  const onlyB = all.filter((n) => isCorrect(b, n) && !isCorrect(a, n));
  const both = all.filter((n) => isCorrect(a, n) && isCorrect(b, n)).length;
  const neither = all.length - both - onlyA.length - onlyB.length;
  at("changes").replaceChildren(
    element("p", {}, `${pair.name}: of ${all.length.toLocaleString("en")} words, ${data.mappers[a]} and ${data.mappers[b]} ` +
      `both have ${both.toLocaleString("en")} right and ${neither.toLocaleString("en")} wrong at the first answer.`),
    ...wordList(`Only ${data.mappers[a]} is right`, pair, onlyA, [a, b]),
    ...wordList(`Only ${data.mappers[b]} is right`, pair, onlyB, [a, b]));
}

function fill(id, names, chosen) {
  at(id).replaceChildren(...names.map((name, i) => element("option", { value: i }, name)));
  at(id).value = chosen;
  at(id).addEventListener("change", showChanges);
}

if (data.mappers.length > 1 && data.pairs.length) {
  const baseline = Math.max(data.mappers.indexOf(data.baseline), 0);
  const hits = data.mappers.map((_, m) => data.pairs.reduce((sum, p) => sum + p.ranks[m].filter((r) => r === 1).length, 0));
  const others = hits.map((_, m) => m).filter((m) => m !== baseline);
  fill("first", data.mappers, baseline);
  fill("second", data.mappers, others.reduce((best, m) => (hits[m] > hits[best] ? m : best)));
  fill("pair", data.pairs.map((pair) => pair.name), 0);
  at("choices").addEventListener("submit", (event) => event.preventDefault());
  showChanges();
} else {
  at("changed").hidden = true;
}
