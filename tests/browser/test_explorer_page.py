"""The explorer in a real browser."""

from urllib.parse import urlsplit

import numpy as np
import pytest

from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.views.explorer import Explorer

ATTACK = "<img src=x onerror=alert(1)>"
WORDS = {
    "en": ["dog", "cat", ATTACK, "house", "Dogs", "tree", "half\udce9"],
    "es": ["perro", "gato", "<script>alert(1)</script>", "casa", "perros", "árbol", "$x$"],
    "he": ["כלב", "חתול", "&amp;", "בית", "כלבים", "עץ", "\"'>"],
}


@pytest.fixture
def spaces():
    """Two mappers: one translates row by row, the other swaps the first two rows of Spanish."""
    meanings = np.random.default_rng(0).normal(size=(7, 12)).astype(np.float32)
    noise = np.random.default_rng(1)
    near = {
        language: meanings + noise.normal(scale=0.1, size=meanings.shape).astype(np.float32)
        for language in WORDS
    }
    swapped = near | {"es": near["es"][[1, 0, 2, 3, 4, 5, 6]]}
    return {
        name: SharedSpace({lang: Embeddings(WORDS[lang], v[lang]) for lang in WORDS})
        for name, v in (("straight", near), ("swapped", swapped))
    }


@pytest.fixture
def opened(page, spaces, serving):
    with serving(Explorer(spaces)) as server:
        page.look(1400)
        page.open(server.address, "body[data-ready]")
        page.address = server.address
        yield page


def type_word(page, text):
    field = page.find("#text")[0]
    field.clear()
    field.send_keys(text)
    page.wait("#suggestions li")
    return field


def choose(page, text, word):
    type_word(page, text)
    page.wait("#suggestions li", word, use=lambda element: element.click())
    page.wait("#word", word)
    page.wait('[data-list^="csls/"] li .score')


def best(page, retrieval, language):
    return page.wait(f'[data-list="{retrieval}/{language}"] li:first-child .word').text


def test_a_search_finds_the_translations_by_every_score(opened):
    choose(opened, "DOG", "dog")
    for retrieval in ("cosine", "csls", "reranked"):
        assert best(opened, retrieval, "es") == "perro"
        assert best(opened, retrieval, "he") == "כלב"
    labels = opened.texts("#picture text")
    assert "dog" in labels and "perro" in labels
    assert opened.complaints() == []


def test_an_example_is_clicked_and_a_score_tells_why(opened):
    assert opened.find("#examples")[0].is_displayed()
    opened.wait("#examples .word", "cat").click()
    opened.wait("#word", "cat")
    assert not opened.find("#examples")[0].is_displayed()
    bar = opened.wait('[data-list="reranked/es"] .bar')
    why = opened.wait('[data-list="reranked/es"] .why')
    assert not why.is_displayed()
    bar.click()
    assert why.is_displayed() and bar.get_attribute("aria-expanded") == "true"
    names, numbers = why.text.splitlines()[::2], why.text.splitlines()[1::2]
    assert set(names) == {"CSLS", "letters", "Score"} and names[-1] == "Score"
    *shares, score = (float(text.replace("\u2212", "-")) for text in numbers)
    assert sum(shares) == pytest.approx(score, abs=0.002)
    assert opened.complaints() == []


def test_the_keyboard_is_enough(opened):
    from selenium.webdriver.common.keys import Keys

    field = type_word(opened, "arbol")  # without its accent
    field.send_keys(Keys.ENTER)
    opened.wait("#word", "árbol")
    field = type_word(opened, "dog")
    opened.wait("#suggestions li", "Dogs")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    opened.wait("#word", "Dogs")


def test_mappers_are_switched_and_the_back_button_returns(opened):
    choose(opened, "dog", "dog")
    opened.wait("#mappers label", "swapped").click()
    opened.wait('[data-list="csls/es"] li:first-child .word', "gato")
    opened.driver.back()
    opened.wait('[data-list="csls/es"] li:first-child .word', "perro")
    assert opened.run("return document.querySelector('#mappers input:checked').value") == "0"


def test_words_stay_text(opened):
    choose(opened, "<img", ATTACK)
    assert best(opened, "csls", "es") == "<script>alert(1)</script>"
    assert ATTACK in opened.texts("#picture text")
    assert opened.find("main img, main script, #suggestions img") == []
    assert opened.complaints() == []


def test_a_word_that_is_no_unicode_text_can_be_chosen(opened):
    choose(opened, "half", "half")
    assert best(opened, "csls", "es") == "$x$"
    assert opened.complaints() == []


def test_no_request_leaves_the_page(opened):
    choose(opened, "cat", "cat")
    asked = opened.requests()
    assert any("translate" in address for address in asked)
    assert {urlsplit(address).netloc for address in asked} == {urlsplit(opened.address).netloc}


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_words_stand_on_one_line_and_the_map_stays_in_view(page, serving, width):
    words = {"en": ["unconstitutional"], "es": [f"internacionalmente{n}" for n in range(12)]}
    near = {lang: np.random.default_rng(0).normal(size=(len(w), 5)) for lang, w in words.items()}
    space = SharedSpace({lang: Embeddings(words[lang], near[lang]) for lang in words})
    with serving(Explorer({"one": space})) as server:
        page.look(width)
        page.open(server.address, "body[data-ready]")
        choose(page, "unc", "unconstitutional")
        page.wait('[data-list^="reranked/"] .bar')
        lines = """return [...document.querySelectorAll(".lists .word")]
            .map((word) => word.offsetHeight / parseFloat(getComputedStyle(word).lineHeight))"""
        assert all(height < 2 for height in page.run(lines))
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        if width > 1000:
            box = """scrollTo(0, 300); const box = document.getElementById("neighborhood")
                .getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"""
            assert page.run(box)


@pytest.mark.parametrize("width", [320, 400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_text_is_readable(opened, width, scheme):
    opened.look(width, scheme)
    choose(opened, "tree", "tree")
    assert opened.run("return document.documentElement.scrollWidth <= innerWidth")
    assert contrast(opened, "#word") >= 7
    assert contrast(opened, "#translations .score") >= 4.5
    assert all(contrast(opened, f'[data-language="{lang}"] .tag') >= 4.5 for lang in ("es", "he"))


def contrast(page, selector):
    """Return the contrast of an element's text with the first ground behind it (WCAG 2)."""
    colors = page.run(
        """
        let e = document.querySelector(arguments[0]);
        const text = getComputedStyle(e).color;
        while (e.parentElement && getComputedStyle(e).backgroundColor === "rgba(0, 0, 0, 0)") {
            e = e.parentElement;
        }
        return [text, getComputedStyle(e).backgroundColor];
        """,
        selector,
    )
    lights = []
    for color in colors:
        parts = [int(p) / 255 for p in color.removeprefix("rgb(").rstrip(")").split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)
