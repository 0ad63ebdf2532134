// The neighbourhood of a word as SVG: one shape and colour per language, labels that do not overlap.

import { colorClass, drawing, languageTag, shape } from "./elements.js";

const MARGIN = 28;

export function drawPicture(svg, points, languages, onChoose) {
  const width = Math.max(svg.clientWidth, 260);
  const room = innerHeight - 190; // for the picture to be seen as a whole
  const height = Math.round(Math.max(Math.min(width, room), 320));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.replaceChildren();
  const places = scale(points, width, height);
  const [center] = places;
  const nearest = new Set(languages.map((language) => points.findIndex((p, i) => i > 0 && p.language === language)));
  for (const [i, place] of places.entries()) {
    if (nearest.has(i) && points[i].language !== points[0].language) {
      svg.append(drawing("line", { class: "line", x1: center.x, y1: center.y, x2: place.x, y2: place.y }));
    }
  }
  const groups = places.map((place, i) => drawPoint(points[i], place, i === 0, languages, onChoose));
  svg.append(...groups.slice(1), groups[0]); // the word itself lies on top
  placeLabels(groups, places, width, height);
}

// One scale for both directions, since distances are what the picture shows.
function scale(points, width, height) {
  const [left, right] = range(points.map((p) => p.x));
  const [bottom, top] = range(points.map((p) => p.y));
  const factor = Math.min((width - 2 * MARGIN - 60) / (right - left), (height - 2 * MARGIN) / (top - bottom));
  return points.map((p) => ({
    x: width / 2 + (p.x - (left + right) / 2) * factor,
    y: height / 2 - (p.y - (bottom + top) / 2) * factor,
  }));
}

function range(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return high - low > 1e-9 ? [low, high] : [low - 1, high + 1];
}

function drawPoint(point, place, isCenter, languages, onChoose) {
  const order = languages.indexOf(point.language);
  const group = drawing(
    "g",
    {
      class: `point ${colorClass(order)}${isCenter ? " center" : ""}`,
      transform: `translate(${place.x} ${place.y})`,
      "data-key": `${point.language}/${point.row}`,
    },
    drawing("title", {}, `${point.word} (${point.language})`),
    shape(order, isCenter ? 7 : 5),
    drawing("text", { lang: languageTag(point.language) }, point.word),
  );
  if (!isCenter) group.addEventListener("click", () => onChoose(point));
  return group;
}

// Each label tries eight places around its point; where all are taken it shows only on hover.
function placeLabels(groups, places, width, height) {
  const taken = places.map((p, i) => box(p.x - 7, p.y - 7, 14, 14, i));
  groups.forEach((group, i) => {
    const text = group.querySelector("text");
    const { width: w, height: h } = text.getBBox();
    const gap = i === 0 ? 11 : 8;
    const options = [
      [gap, -h / 2], [-gap - w, -h / 2], [-w / 2, -gap - h], [-w / 2, gap],
      [gap * 0.7, -gap * 0.5 - h], [-gap * 0.7 - w, -gap * 0.5 - h], [gap * 0.7, gap * 0.5], [-gap * 0.7 - w, gap * 0.5],
    ];
    const fits = options.find(([x, y]) => {
      const wanted = box(places[i].x + x, places[i].y + y, w, h, i);
      const inside = wanted.left >= 0 && wanted.right <= width && wanted.top >= 0 && wanted.bottom <= height;
      return inside && !taken.some((other) => other.owner !== i && overlap(wanted, other));
    });
    const [x, y] = fits ?? [places[i].x + gap + w <= width ? gap : -gap - w, -h / 2];
    text.setAttribute("x", x);
    text.setAttribute("y", y + h * 0.79); // from the top of the text to its baseline
    if (fits) taken.push(box(places[i].x + x - 3, places[i].y + y, w + 6, h, i));
    else if (i > 0) text.setAttribute("class", "hidden");
  });
}

function box(left, top, width, height, owner) {
  return { left, top, right: left + width, bottom: top + height, owner };
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
