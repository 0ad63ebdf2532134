"""What the tables read is what `geomm fetch` writes."""

import shlex

import pytest

from geomm_plugin.datasets.catalog import find_data_set
from geomm_plugin.evaluation.paper import PaperFolder
from geomm_plugin.evaluation.paper.published import paper_tables


def brought_by(line):
    """Return the paths in the folder after a `geomm fetch` line."""
    geomm, fetch, name, *parts, option, _ = shlex.split(line)
    assert (geomm, fetch, option) == ("geomm", "fetch", "--folder")
    files = find_data_set(name).wanted(parts)
    return {path for file in files for path in (file.path, *file.members.values())}


@pytest.mark.parametrize("name", list(paper_tables()))
def test_the_lines_for_an_empty_folder_bring_every_file_that_a_column_needs(name, tmp_path):
    table = paper_tables()[name]
    for column in table.columns:
        folder = tmp_path / column.name
        data = PaperFolder(folder)
        needed = {need.path for need in data.needs(table.kind, column)}
        lines = data.fetch_lines(data.missing(table.kind, column))
        assert needed <= set().union(*map(brought_by, lines)), column.name
        for path in needed:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
        assert data.missing(table.kind, column) == []


def test_a_folder_with_a_space_is_quoted_in_the_line(tmp_path):
    folder = tmp_path / "my data"
    table = paper_tables()["table1"]
    data = PaperFolder(folder)
    (line, *_) = data.fetch_lines(data.missing(table.kind, table.columns[0]))
    assert shlex.split(line)[-1] == str(folder)
