"""Rows in a file: what is no row stays as it is."""

import os

import pytest

from geomm_plugin.errors import FileError, FormatError
from geomm_plugin.evaluation.paper.computed_rows import ComputedRows

KEY = ("Procrustes", "en-es")


def rows(path):
    return ComputedRows(path, {"max_words": 5})


def test_a_row_that_was_torn_off_is_made_again(tmp_path):
    path = tmp_path / "new" / "rows.jsonl"
    assert list(rows(path).of_table("table1")) == []
    rows(path).add("table1", KEY, 50.0)
    whole = path.read_bytes()
    for end in range(1, len(whole)):
        path.write_bytes(whole + whole[: -end - 1])
        assert list(rows(path).of_table("table1")) == [(KEY, 50.0)]
        rows(path).add("table1", ("GeoMM", "en-es"), 60.0)
        assert list(rows(path).of_table("table1")) == [(KEY, 50.0), (("GeoMM", "en-es"), 60.0)]


@pytest.mark.parametrize(
    "content", [b"a thesis in one line", b"\xff\xfe", b'{"x": 1}\n', b"a 1\nb"]
)
def test_a_file_of_something_else_stays_as_it_is(tmp_path, content):
    path = tmp_path / "thesis"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"line \d: no row of a table"):
        list(rows(path).of_table("table1"))
    if not content.endswith(b"\n"):
        with pytest.raises(FormatError, match=r"line \d: no row of a table"):
            rows(path).add("table1", KEY, 50.0)
    assert path.read_bytes() == content


def test_folders_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(FileError, match=r"is a folder|is no plain file"):
            list(rows(path).of_table("table1"))
