// Elements of the page. Words come from files and are always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.map(wellFormed)); // strings become text
  return made;
}

// Bytes that were not UTF-8 are halves of surrogate pairs here; they show as the replacement character.
function wellFormed(child) {
  return typeof child === "string" ? (child.toWellFormed?.() ?? child) : child;
}

// "Spanish" for "es"; a language that the browser does not know keeps its code.
export function languageName(language) {
  try {
    return new Intl.DisplayNames(["en"], { type: "language", fallback: "code" }).of(language);
  } catch {
    return language;
  }
}

// A screen reader and the browser's fonts want to know the language of a word, if it has a proper code.
export function languageTag(language) {
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    return undefined;
  }
}

const SHAPES = [
  (s) => drawing("circle", { class: "shape", r: s }),
  (s) => drawing("rect", { class: "shape", x: -s * 0.9, y: -s * 0.9, width: s * 1.8, height: s * 1.8 }),
  (s) => drawing("path", { class: "shape", d: `M0 ${-s * 1.2}L${s * 1.15} ${s * 0.9}H${-s * 1.15}Z` }),
  (s) => drawing("path", { class: "shape", d: `M0 ${-s * 1.3}L${s * 1.3} 0L0 ${s * 1.3}L${-s * 1.3} 0Z` }),
  (s) => drawing("path", { class: "shape", d: `M0 ${s * 1.2}L${s * 1.15} ${-s * 0.9}H${-s * 1.15}Z` }),
];

// Colour and shape both tell the language: 40 languages before a pair repeats.
export function shape(order, size) {
  return SHAPES[order % SHAPES.length](size);
}

export function colorClass(order) {
  return `color-${order % 8}`;
}
