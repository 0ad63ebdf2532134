"""The report in a real browser, made by the command line from files."""

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import group


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two languages, one turned and disturbed, so that mappers get some words wrong."""
    folder = tmp_path_factory.mktemp("report")
    random = np.random.default_rng(0)
    vectors = random.normal(size=(300, 10)).astype(np.float32)
    turned = vectors @ np.linalg.qr(random.normal(size=(10, 10)))[0] * np.linspace(0.3, 3, 10)
    noise = random.normal(scale=0.5, size=vectors.shape)
    # A word of a dictionary holds no plain space; for HTML a slash does as well.
    english = [f"<img/src=x/onerror=alert({n})>" for n in range(300)]
    spanish = [f"<script>alert({n})</script>" for n in range(300)]
    write_embeddings(Embeddings(english, vectors), folder / "en.vec")
    write_embeddings(Embeddings(spanish, (turned + noise).astype(np.float32)), folder / "es.vec")
    pairs = [f"{a}\t{b}\n" for a, b in zip(english, spanish, strict=True)]
    (folder / "train.txt").write_text("".join(pairs[:100]), encoding="utf-8")
    (folder / "test.txt").write_text("".join(pairs[100:]), encoding="utf-8")
    page = folder / "report.html"
    files = [f"{language}={folder / language}.vec" for language in ("en", "es")]
    result = CliRunner().invoke(
        group,
        [
            "compare", *files, "--dictionary", f"en-es={folder / 'train.txt'}",
            "--test", f"en-es={folder / 'test.txt'}", "--mapper", "procrustes",
            "--mapper", "geomm:regularization=1", "--mapper", "geomm:regularization=1e6",
            "--retrieval", "csls", "--retrieval", "cosine", "--html", str(page), "--quiet",
        ],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return page.as_uri()


@pytest.fixture
def opened(page, report):
    page.look(1400)
    page.open(report, "#changes p")
    return page


def column(page, number):
    return page.texts(f"#numbers tbody tr > :nth-child({number})")


def test_the_table_sorts_by_number_and_by_text(opened):
    button = opened.wait("#numbers thead button", "P@1 [95 %]")
    script = """return [...document.querySelectorAll("#numbers tbody tr")]
        .map((row) => parseFloat(row.cells[3].textContent))"""
    before = opened.run(script)
    button.click()
    assert opened.run(script) == sorted(before, reverse=True) != before
    button.click()
    assert opened.run(script) == sorted(before)
    opened.wait("#numbers thead button", "retrieval").click()
    assert column(opened, 3) == sorted(column(opened, 3))
    sorted_heads = opened.find("#numbers th[aria-sort]")
    assert [head.get_attribute("aria-sort") for head in sorted_heads] == ["ascending"]


def test_rows_without_a_value_come_last(opened):
    for _ in range(2):
        opened.wait("#numbers thead button", "against procrustes").click()
        shown = column(opened, 5)
        count = sum(not text for text in shown)
        assert count == 2 and not any(shown[-count:]) and all(shown[:-count])


def test_the_words_that_changed_follow_the_choice(opened):
    from selenium.webdriver.support.ui import Select

    Select(opened.find("#second")[0]).select_by_index(2)
    heads = opened.texts("#changes h3")
    assert heads[0].startswith("Only procrustes is right:")
    assert heads[1].startswith(f"Only {opened.texts('#second option')[2]} is right:")
    counts = [int(head.rsplit(":", 1)[1].split()[0]) for head in heads]
    assert sum(counts) > 0
    for button in opened.find("#changes .more"):
        button.click()
    assert len(opened.find("#changes tbody tr")) == sum(counts)
    Select(opened.find("#second")[0]).select_by_index(0)  # a mapper against itself
    assert opened.texts("#changes h3") == ["Only procrustes is right: 0 words"] * 2


def test_words_stay_text(opened):
    shown = "".join(opened.texts("#changes"))
    assert "<img/src=x/onerror=alert(" in shown and "<script>alert(" in shown
    assert opened.find("img") == []
    assert len(opened.find("script")) == 2
    assert opened.complaints() == []


def test_no_request_leaves_the_page(opened, report):
    assert {address for address in opened.requests() if not address.startswith("data:")} == {report}


@pytest.mark.parametrize("width", [320, 400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(opened, width, scheme):
    opened.look(width, scheme)
    assert opened.run("return document.documentElement.scrollWidth <= innerWidth")
    grounds = opened.run("return getComputedStyle(document.body).backgroundColor")
    assert (grounds == "rgb(21, 23, 27)") == (scheme == "dark")
    assert opened.complaints() == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_text_of_a_chart_and_no_column_is_cut(opened, width):
    opened.look(width)
    drawn = "[...document.querySelectorAll('figure svg')].filter((svg) => svg.checkVisibility())"
    assert opened.run(f"return {drawn}.length") == 2, "scores and differences; more is folded"
    cut = """.flatMap((svg) => [...svg.querySelectorAll("text")]
        .map((text) => [svg, text.getBBox()]))
        .filter(([svg, { x, width }]) => x < -0.5 || x + width > svg.viewBox.baseVal.width + 0.5)"""
    assert opened.run(f"return {drawn}{cut}.length") == 0
    if width > 640:
        table = "const box = document.getElementById('numbers').parentElement;"
        assert opened.run(f"{table} return box.scrollWidth <= box.clientWidth")


def test_the_printed_page_is_light(opened):
    opened.look(1400, "dark")
    opened.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    try:
        ground = opened.run("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(251, 251, 250)"
        assert not opened.find("#choices")[0].is_displayed()
    finally:
        opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
