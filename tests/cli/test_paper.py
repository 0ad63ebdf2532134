"""`geomm paper`: every table has its shape on the embedded data."""

import json

import pytest

from geomm_plugin.evaluation.paper.published import paper_tables

DEMO = ("--demo", "--max-words", "800", "-q")


@pytest.fixture
def run(geomm):
    return lambda *line, status=0: geomm("paper", *line, status=status)


@pytest.mark.parametrize("name", list(paper_tables()))
def test_every_table_has_the_papers_rows_and_columns(run, name):
    mapper = "geomm" if name != "table7" else "rcsls"
    rows = json.loads(run(name, *DEMO, "--mapper", mapper, "--json").stdout)
    table = paper_tables()[name]
    assert {row["column"] for row in rows} >= {column.name for column in table.columns}
    assert {row["table"] for row in rows} == {name}
    filled = [row for row in rows if row["ours"] is not None]
    assert filled and all(row["difference"] is None for row in rows)  # other data
    assert any(row["published"] is not None for row in rows)
    for row in rows:
        assert row["error"] is None
        in_demo = set(row["column"].split("-")) <= {"en", "es", "it"}
        assert (row["ours"] is not None) == in_demo or row["column"] == "avg."
        assert bool(row["missing"]) == (not in_demo and row["column"] != "avg.")


def test_one_hop_has_all_three_ways(run):
    mappers = ("--mapper", "procrustes", "--mapper", "geomm_multi")
    shown = run("table6", *DEMO, *mappers, "--pair", "es-en-it").stdout
    assert all(f"Procrustes, {way}" in shown for way in ("composition", "pipeline"))
    assert "GeoMM_multi" in shown and "not the paper's" in shown


def test_without_a_name_it_is_the_tables_that_have_a_pair(run):
    mappers = ("--mapper", "procrustes", "--json")
    for pair, names in (("it-en", ["table5", "table7"]), ("es-en-it", ["table6"])):
        rows = json.loads(run(*DEMO, *mappers, "--pair", pair).stdout)
        assert list(dict.fromkeys(row["table"] for row in rows)) == names
    assert "no column 'xx'" in run(*DEMO, *mappers, "--pair", "xx", status=2).stderr


def test_markdown_and_jobs(run):
    arguments = ("table2", *DEMO, "--mapper", "procrustes", "--markdown")
    one = run(*arguments)
    assert "| Procrustes | " in one.stdout and "geomm fetch vecmap --folder data" in one.stdout
    assert run(*arguments, "--jobs", "2").stdout == one.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table1"], "Give either --data FOLDER"),
        (["table1", "--demo", "--data", "x"], "Give either --data FOLDER"),
        (["table0", "--demo"], "The paper has no 'table0'."),
        (["table1", "--demo", "--json", "--markdown"], "Choose one of --json and --markdown"),
        (["table1", "--demo", "--jobs", "0"], "jobs is a number of processes"),
        (["table1", "--demo", "--mapper", "geom"], "There is no mapper 'geom'"),
    ],
)
def test_what_cannot_be_done_is_refused(run, arguments, message):
    assert message in run(*arguments, status=2).stderr
