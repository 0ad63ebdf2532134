// The search field: words that begin with what is typed, chosen by pointer or keys.

import { colorClass, element, languageTag } from "./elements.js";

export class Suggestions {
  constructor(input, list, ask, onChoose) {
    Object.assign(this, { input, list, ask, onChoose, words: [], chosen: -1, latest: 0 });
    input.addEventListener("input", () => this.search());
    input.addEventListener("focus", () => this.search());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the focus
  }

  async search() {
    const turn = ++this.latest;
    const text = this.input.value;
    const words = text.trim() ? await this.ask(text) : [];
    if (turn !== this.latest) return; // something else was typed meanwhile
    this.words = words;
    this.chosen = words.length ? 0 : -1;
    this.show(text.trim() !== "" && document.activeElement === this.input);
  }

  show(open) {
    const items = this.words.map((word, i) => {
      const order = this.languages.indexOf(word.language);
      const item = element(
        "li",
        { role: "option", id: `suggestion-${i}`, "aria-selected": i === this.chosen },
        element("span", { lang: languageTag(word.language), dir: "auto" }, word.word),
        element("span", { class: `tag ${colorClass(order)}` }, word.language),
      );
      item.addEventListener("click", () => this.choose(i));
      return item;
    });
    if (open && !items.length) {
      items.push(element("li", { role: "option", "aria-disabled": "true" }, element("span", {}, "No word begins so.")));
    }
    this.list.replaceChildren(...items);
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", open);
    this.mark(this.chosen);
  }

  mark(i) {
    this.chosen = i;
    for (const [n, item] of [...this.list.children].entries()) item.setAttribute("aria-selected", n === i);
    if (i >= 0 && !this.list.hidden) {
      this.input.setAttribute("aria-activedescendant", `suggestion-${i}`);
      this.list.children[i].scrollIntoView({ block: "nearest" });
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  async key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.words.length) {
      event.preventDefault();
      if (this.list.hidden) this.show(true);
      else this.mark((this.chosen + step + this.words.length) % this.words.length);
    } else if (event.key === "Escape") {
      this.close();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      if (this.list.hidden) await this.search();
      this.choose(this.chosen);
    }
  }

  choose(i) {
    if (i < 0) return;
    this.close();
    this.onChoose(this.words[i]);
  }

  close() {
    this.latest++;
    this.show(false);
  }
}
