// The explorer: a word, its translations by each score, and the words around it.

import { colorClass, drawing, element, languageName, languageTag, shape } from "./elements.js";
import { drawPicture } from "./picture.js";
import { Suggestions } from "./suggestions.js";

const RETRIEVALS = { cosine: "Cosine", csls: "CSLS", reranked: "Re-ranked" };
const PATIENCE = 400; // milliseconds before the page says that it waits

const at = (id) => document.getElementById(id);
const state = { languages: [], mappers: [], mapper: 0, word: null, points: [], answers: new Map() };
let stop = new AbortController();

async function ask(question, query = {}, signal = undefined) {
  let response;
  try {
    response = await fetch(`api/${question}?${new URLSearchParams(query)}`, { signal });
  } catch (error) {
    if (error.name !== "AbortError") say("geomm explore no longer answers; start it again in the terminal.");
    throw error;
  }
  const answer = await response.json();
  if (!response.ok) {
    say(answer.error);
    throw new Error(answer.error);
  }
  return answer;
}

function say(text) {
  at("message").textContent = text;
}

// Show a word: its address goes into the history, so that the browser's buttons go back and forth.
function choose({ language, row, word }) {
  const hash = `#${state.mapper}/${encodeURIComponent(language)}/${row}`;
  at("text").value = word;
  if (hash === location.hash) show();
  else location.hash = hash;
}

function readHash() {
  const [mapper, language, row] = location.hash.slice(1).split("/");
  const known = state.languages.includes(decodeURIComponent(language ?? ""));
  if (!known || !/^\d+$/.test(row) || !(Number(mapper) < state.mappers.length)) return false;
  Object.assign(state, { mapper: Number(mapper), word: { language: decodeURIComponent(language), row: Number(row) } });
  return true;
}

async function show() {
  stop.abort();
  if (!readHash()) return;
  stop = new AbortController();
  const { signal } = stop;
  document.querySelectorAll("#mappers input").forEach((input, i) => (input.checked = i === state.mapper));
  const waiting = setTimeout(() => say("Mapping all words, this once …"), PATIENCE);
  try {
    const picture = await ask("picture", question(state.mapper), signal);
    clearTimeout(waiting);
    state.points = picture.points;
    showWord(picture.points[0]);
    showPicture(picture);
    const lists = Object.keys(RETRIEVALS).map((retrieval) => showTranslations(retrieval, signal));
    await Promise.all(lists);
    await compareMappers(signal);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  } finally {
    clearTimeout(waiting);
  }
}

function question(mapper, more = {}) {
  return { mapper, language: state.word.language, row: state.word.row, ...more };
}

function showWord({ language, word }) {
  state.word.word = word;
  say("");
  if (document.activeElement !== at("text") || !at("text").value) at("text").value = word;
  document.title = `${word} (${language}) · geomm explore`;
  const shown = element("span", { lang: languageTag(language), dir: "auto" }, word);
  at("word").replaceChildren(shown, " ", tag(language));
  at("only").replaceChildren();
  at("translations").replaceChildren(...state.languages.filter((l) => l !== language).map(card));
  at("result").hidden = false;
  at("examples").hidden = true;
}

function tag(language) {
  return element("span", { class: `tag ${colorClass(state.languages.indexOf(language))}` }, languageName(language));
}

function card(language) {
  const lists = Object.entries(RETRIEVALS).map(([retrieval, name]) =>
    element("div", {}, element("h4", {}, name), element("ol", { "data-list": `${retrieval}/${language}` })));
  return element("section", { class: "card", "data-language": language },
    element("h3", {}, tag(language)), element("div", { class: "lists" }, ...lists));
}

async function showTranslations(retrieval, signal) {
  const waiting = setTimeout(() => {
    for (const list of lists(retrieval)) {
      list.replaceChildren(element("li", { class: "empty" }, "Comparing all words, this once …"));
    }
  }, PATIENCE);
  try {
    const answer = await translations(state.mapper, retrieval, signal);
    for (const list of lists(retrieval)) {
      list.replaceChildren(...answer[list.dataset.list.split("/").slice(1).join("/")].map(translation));
    }
  } finally {
    clearTimeout(waiting);
  }
}

function lists(retrieval) {
  return [...document.querySelectorAll("[data-list]")].filter((list) => list.dataset.list.startsWith(`${retrieval}/`));
}

async function translations(mapper, retrieval, signal) {
  const key = `${mapper}/${retrieval}/${state.word.language}/${state.word.row}`;
  if (!state.answers.has(key)) {
    state.answers.set(key, await ask("translate", question(mapper, { retrieval }), signal));
  }
  return state.answers.get(key);
}

// One answer: the word, its score or its probability, and for re-ranked ones a bar of what makes up the score.
function translation(word, _, answers) {
  const button = element("button", {
    type: "button", class: "word", lang: languageTag(word.language), dir: "auto", title: word.word, "data-key": key(word),
  }, word.word);
  button.addEventListener("click", () => choose(word));
  const shown = word.probability === undefined ? number(word.score) : percent(word.probability);
  const score = element("span", { class: "score" }, shown);
  if (!word.shares) return element("li", {}, button, score);
  const low = Math.min(...answers.map((answer) => sum(answer.shares, -1)));
  const high = Math.max(...answers.map((answer) => sum(answer.shares, 1)));
  const why = shareList(word);
  const bar = element("button",
    { type: "button", class: "bar", "aria-expanded": false, title: "What makes up the score" },
    element("span", { class: "aside" }, `What makes up the score of ${word.word}`), shareBar(word.shares, low, high));
  bar.addEventListener("click", () => {
    why.hidden = !why.hidden;
    bar.setAttribute("aria-expanded", !why.hidden);
  });
  return element("li", {}, button, score, bar, why);
}

// The sum of the shares of one sign.
function sum(shares, sign) {
  return Object.values(shares).reduce((all, share) => all + (share * sign > 0 ? share : 0), 0);
}

// A piece for each share: those that add to the score right of a mark at 0, the others left of it.
function shareBar(shares, low, high) {
  const scale = 100 / (high - low || 1);
  const ends = { left: -low * scale, right: -low * scale };
  const pieces = Object.values(shares).map((share, i) => {
    const width = Math.abs(share) * scale;
    if (share < 0) ends.left -= width;
    const piece = drawing("rect", { class: shareClass(i), x: share < 0 ? ends.left : ends.right, y: 1, width, height: 4 });
    if (share > 0) ends.right += width;
    return piece;
  });
  const zero = drawing("rect", { class: "zero", x: -low * scale - 0.4, y: 0, width: 0.8, height: 6 });
  return drawing("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, ...pieces, zero);
}

// "CSLS 0.120, letters 0.310, sum 0.430", the largest first.
function shareList({ shares, score }) {
  const rows = Object.entries(shares).map(([name, share], i) => ({ name: RETRIEVALS[name] ?? name, share, i }));
  rows.sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  const items = rows.flatMap(({ name, share, i }) => {
    const mark = drawing("svg", { viewBox: "0 0 8 8", "aria-hidden": "true" },
      drawing("rect", { class: shareClass(i), width: 8, height: 8 }));
    return [element("dt", {}, mark, name), element("dd", {}, number(share))];
  });
  const list = element("dl", { class: "why" }, ...items, element("dt", {}, "Score"), element("dd", {}, number(score)));
  list.hidden = true;
  return list;
}

function shareClass(i) {
  return i ? `share ${colorClass((i + 2) % 7)}` : "share base"; // the eighth color is grey, too
}

function number(value) {
  return value.toFixed(3).replace(/^-(?=0\.0+$)/, "").replace("-", "\u2212");
}

function percent(share) {
  return share < 0.01 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

function showExamples(words) {
  const rows = state.languages.map((language) => {
    const buttons = words.filter((word) => word.language === language).map((word) => {
      const button = element("button",
        { type: "button", class: "word", lang: languageTag(language), dir: "auto" }, word.word);
      button.addEventListener("click", () => choose(word));
      return button;
    });
    return element("p", {}, tag(language), ...buttons);
  });
  at("examples").append(...rows);
  at("examples").hidden = state.word !== null;
}

function key({ language, row }) {
  return `${language}/${row}`;
}

// With several mappers: mark answers that no other mapper gives.
async function compareMappers(signal) {
  const others = state.mappers.map((_, i) => i).filter((i) => i !== state.mapper);
  if (!others.length) return;
  for (const retrieval of Object.keys(RETRIEVALS)) {
    const answers = await Promise.all(others.map((mapper) => translations(mapper, retrieval, signal)));
    const known = new Set(answers.flatMap((answer) => Object.values(answer).flat().map(key)));
    for (const button of lists(retrieval).flatMap((list) => [...list.querySelectorAll(".word")])) {
      if (known.has(button.dataset.key)) continue;
      button.classList.add("only");
      button.after(element("span", { class: "aside" }, "highlighted"));
    }
  }
  const names = others.map((i) => state.mappers[i]).join(" or ");
  at("only").replaceChildren(element("span", { class: "only" }, "Highlighted"), ` words are not among the answers of ${names}.`);
}

function showPicture({ variance }) {
  const languages = state.languages.filter((language) => state.points.some((p) => p.language === language));
  at("legend").replaceChildren(...languages.map((language) => {
    const order = state.languages.indexOf(language);
    const symbol = drawing("svg", { viewBox: "-9 -9 18 18", class: colorClass(order), "aria-hidden": "true" }, shape(order, 6));
    return element("span", {}, symbol, languageName(language));
  }));
  const names = languages.map((language) =>
    `${languageName(language)}: ${state.points.filter((p) => p.language === language).map((p) => p.word).join(", ")}`);
  at("picture").setAttribute("aria-label", `Words near ${state.word.word}. ${names.join(". ")}.`);
  at("variance").textContent =
    `The nearest words by cosine, seen along their two principal directions (${Math.round(variance * 100)} % of their ` +
    "variance). Dashed lines lead to the nearest word of each language.";
  redraw();
}

function redraw() {
  if (state.points.length) drawPicture(at("picture"), state.points, state.languages, choose);
}

// The same word is marked wherever it stands.
function markSame(event) {
  const hovered = event.target.closest?.("[data-key]")?.dataset.key;
  for (const other of document.querySelectorAll("[data-key]")) {
    other.classList.toggle("same", event.type !== "pointerout" && event.type !== "focusout" && other.dataset.key === hovered);
  }
}

function showMappers() {
  const labels = state.mappers.map((name, i) => {
    const input = element("input", { type: "radio", name: "mapper", value: i });
    input.addEventListener("change", () => {
      state.mapper = i;
      if (state.word) choose(state.word);
    });
    input.checked = i === state.mapper;
    return element("label", {}, input, element("span", {}, name));
  });
  at("mappers").append(...labels);
  at("mappers").hidden = false;
}

async function start() {
  const about = await ask("about");
  state.mappers = about.mappers;
  state.languages = about.languages.map(({ language }) => language);
  const sizes = about.languages.map(({ language, words }) => `${languageName(language)} ${words.toLocaleString("en")}`);
  at("about").textContent = `${sizes.join(", ")} words`;
  showMappers();
  showExamples(about.examples);
  const suggestions = new Suggestions(at("text"), at("suggestions"), (text) => ask("search", { text }), choose);
  suggestions.languages = state.languages;
  addEventListener("hashchange", show);
  new ResizeObserver(redraw).observe(at("neighborhood"));
  addEventListener("resize", redraw);
  for (const name of ["pointerover", "pointerout", "focusin", "focusout"]) {
    document.addEventListener(name, markSame);
  }
  document.body.dataset.ready = "true";
  await show();
}

start();
