"""Tables from a folder as `geomm fetch` lays it out, made here of the demo's data."""

import pytest

from geomm_plugin import compare, evaluate, get_mapper, write_embeddings
from geomm_plugin.demo.paper_data import DemoPaperData
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.evaluation.one_hop import one_hop
from geomm_plugin.evaluation.paper import PaperFolder, make_table
from geomm_plugin.evaluation.similarity import Similarity

WORDS = 1200


def write_pairs(path, pairs):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("wiki", "vecmap", "muse", "semeval2017", "analogies"):
        (folder / name).mkdir()
    for language in ("en", "es"):
        head = demo.embeddings[language].head(WORDS)
        write_embeddings(head, folder / f"wiki/wiki.{language}.vec")
    for language in ("en", "it"):
        head = demo.embeddings[language].head(WORDS)
        write_embeddings(head, folder / f"vecmap/{language}.vec.gz")
    write_pairs(folder / "muse/en-es.0-5000.txt", demo.train["en", "es"])
    write_pairs(folder / "muse/en-es.5000-6500.txt", demo.test["en", "es"])
    write_pairs(folder / "vecmap/en-it.train.txt", demo.train["en", "it"])
    write_pairs(folder / "vecmap/en-it.test.txt", demo.test["en", "it"])
    words = [f"{a}\t{b}\n" for a, b in demo.test["en", "es"]]
    (folder / "semeval2017/en-es.test.data.txt").write_text("".join(words), encoding="utf-8")
    scores = "".join(f"{number % 5}\n" for number in range(len(words)))
    (folder / "semeval2017/en-es.test.gold.txt").write_text(scores, encoding="utf-8")
    questions = ": plurals\ncountry countries year years\nyear years country countries\n"
    (folder / "analogies/questions-words.txt").write_text(questions, encoding="utf-8")
    return folder


def cells_of(table):
    return {(row["system"], row["column"]): row for row in table.rows}


def test_a_cell_is_the_score_of_its_pair_alone(folder, demo):
    table = make_table("table1", PaperFolder(folder), mappers=["procrustes"], pairs=["en-es"])
    two = {language: demo.embeddings[language].head(WORDS) for language in ("en", "es")}
    space = get_mapper("procrustes").fit(two, {("en", "es"): demo.train["en", "es"]}).map(two)
    expected = evaluate(space, "en", "es", demo.test["en", "es"]).scores["p@1"]
    cell = cells_of(table)["Procrustes", "en-es"]
    assert cell["ours"] == pytest.approx(100 * expected)
    assert cell["published"] == 81.4 and cell["difference"] == pytest.approx(cell["ours"] - 81.4)
    average = cells_of(table)["Procrustes", "avg."]
    assert average["ours"] == cell["ours"] and average["published"] is None  # of other columns, too
    assert f"{cell['ours']:.1f} (81.4; {cell['difference']:+.1f})" in str(table)


def test_missing_files_leave_cells_empty_and_say_how_to_get_them(folder):
    data = PaperFolder(folder)
    table = make_table("table1", data, mappers=["procrustes"], pairs=["es-en", "en-fr"])
    es, fr, _ = table.rows
    assert es["ours"] is None and es["published"] == 82.9
    assert es["missing"] == [f"geomm fetch muse es-en --folder {folder}"]
    assert fr["missing"] == [
        f"geomm fetch wiki fr --folder {folder}", f"geomm fetch muse en-fr --folder {folder}"
    ]  # fmt: skip
    assert table.missing() == [
        f"geomm fetch muse es-en en-fr --folder {folder}", f"geomm fetch wiki fr --folder {folder}"
    ]  # fmt: skip
    assert make_table("table8", data, pairs=["en-de"]).missing() == [
        f"geomm fetch vecmap --folder {folder}"
    ]


def test_vecmap_is_read_backwards_into_english(folder, demo):
    table = make_table("table7", PaperFolder(folder), mappers=["geomm"], pairs=["it-en"])
    two = {language: demo.embeddings[language].head(WORDS) for language in ("en", "it")}
    pairs = {part: [(b, a) for a, b in pairs["en", "it"]] for part, pairs in
             (("train", demo.train), ("test", demo.test))}  # fmt: skip
    space = get_mapper("geomm").fit(two, {("it", "en"): pairs["train"]}).map(two)
    expected = evaluate(space, "it", "en", pairs["test"]).scores["p@1"]
    assert cells_of(table)["GeoMM", "it-en"]["ours"] == pytest.approx(100 * expected)


def test_similarity_and_analogy_are_scored(folder, demo):
    table = make_table("table4", PaperFolder(folder), mappers=["procrustes"], pairs=["en-es"])
    two = {language: demo.embeddings[language].head(WORDS) for language in ("en", "es")}
    space = get_mapper("procrustes").fit(two, {("en", "es"): demo.train["en", "es"]}).map(two)
    scored = [(*pair, number % 5) for number, pair in enumerate(demo.test["en", "es"])]
    (expected,) = Similarity({("en", "es"): scored}).score(space)
    assert cells_of(table)["Procrustes", "en-es"]["ours"] == pytest.approx(
        expected.scores["pearson"]
    )
    rows = make_table("table5", PaperFolder(folder), mappers=["none", "procrustes"]).rows
    assert [row["system"] for row in rows] == ["Original English embeddings", "Procrustes"]
    assert all(row["ours"] in (0, 50, 100) for row in rows)


def test_scores_that_do_not_fit_their_words_are_refused(folder, tmp_path):
    (tmp_path / "semeval2017").mkdir()
    (tmp_path / "semeval2017/en-es.test.data.txt").write_text("a\tb\nc\td\n")
    (tmp_path / "semeval2017/en-es.test.gold.txt").write_text("1\n")
    with pytest.raises(FormatError, match="words and scores do not fit together"):
        PaperFolder(tmp_path).similarity("en", "es")


def test_a_mapper_of_ones_own_is_a_row_of_its_own(folder):
    mappers = ["cca:keep=0.5", "procrustes"]
    table = make_table("table8", PaperFolder(folder), mappers=mappers, pairs=["en-it"])
    cell = cells_of(table)["cca:keep=0.5", "en-it"]
    assert cell["ours"] > 0 and cell["published"] is None and cell["difference"] is None


def test_a_joint_system_is_fitted_on_all_columns_at_once(folder, demo):
    data = DemoPaperData()
    table = make_table("table2", data, mappers=["geomm_multi"], max_words=600)
    three = {language: value.head(600) for language, value in demo.embeddings.items()}
    train = {("en", to): demo.train["en", to] for to in ("it", "es")}
    tests = {pair: demo.test[pair] for pair in train}
    rows = compare("geomm_multi", three, train, tests, metrics="p@1").rows
    for row in rows[:2]:
        ours = cells_of(table)["GeoMM_multi", row["pair"]]["ours"]
        assert ours == pytest.approx(100 * row["p@1"])


def test_a_pair_that_the_paper_does_not_have_is_a_column_of_its_own(folder):
    table = make_table("table1", PaperFolder(folder), mappers=["procrustes"], pairs=["en-pt"])
    cell = cells_of(table)["Procrustes", "en-pt"]
    assert cell["ours"] is None and cell["published"] is None
    assert cell["missing"] == [
        f"geomm fetch wiki pt --folder {folder}", f"geomm fetch muse en-pt --folder {folder}"
    ]  # fmt: skip
    for wrong in ("en", "en-en", "en-es-it"):
        with pytest.raises(ParameterError, match=f"no column '{wrong}'"):
            make_table("table1", PaperFolder(folder), pairs=[wrong])


def test_digits_are_those_of_the_paper(folder):
    shown = str(make_table("table5", PaperFolder(folder), mappers=["procrustes"]))
    assert "(76.66; " in shown


def test_a_system_without_a_dictionary_gets_none_and_needs_no_pivot(demo):
    data, quick = DemoPaperData(), "sl_unsup:words=300,start_words=300,patience=1"
    two = {language: demo.embeddings[language].head(600) for language in ("es", "it")}
    tests = {("es", "it"): demo.test["es", "it"]}
    (run,) = compare(quick, two, {}, tests, metrics="p@1").runs
    table = make_table("table6", data, mappers=[quick], pairs=["es-en-it"], max_words=600)
    (row,) = [row for row in table.rows if row["column"] == "es-en-it"]
    if run.error is None:
        assert row["ours"] == pytest.approx(100 * run.scores[0].scores["p@1"])
    else:
        assert row["error"] == run.error


def test_composition_is_the_papers_in_the_pivots_space(demo):
    table = make_table(
        "table6", DemoPaperData(), mappers=["geomm"], pairs=["es-en-it"], max_words=600
    )
    few = {language: value.head(600) for language, value in demo.embeddings.items()}
    tests = {("es", "it"): demo.test["es", "it"]}
    ways = one_hop(
        few, demo.train, tests, mappers="geomm", disjoint=True, methods=["pivot_space", "pipeline"]
    )
    found = [row["ours"] for row in table.rows if row["column"] == "es-en-it"]
    assert found == pytest.approx([100 * way.scores["p@1"] for way in ways.scores])


def test_a_mapper_that_fails_leaves_a_reason_and_the_others_go_on(folder):
    mappers = ["procrustes:hub=xx", "msf"]
    table = make_table("table2", PaperFolder(folder), mappers=mappers, pairs=["en-it"])
    found = cells_of(table)
    assert found["procrustes:hub=xx", "en-it"]["error"].startswith("LanguagesError: ")
    assert found["MSF", "en-it"]["ours"] > 0
    assert "procrustes:hub=xx (en-it): LanguagesError" in str(table)


def test_a_column_that_is_not_there_is_named(folder):
    with pytest.raises(ParameterError, match="no column 'en-xx'.*It has: en-it, en-de"):
        make_table("table2", PaperFolder(folder), pairs=["en-xx"])
