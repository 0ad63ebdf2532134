import pytest

from geomm_plugin.errors import UnknownNameError
from geomm_plugin.evaluation.paper.published import UNMAPPED, find_table, paper_tables
from geomm_plugin.registry import as_mapper, as_retrieval


def test_there_are_eight_tables():
    assert list(paper_tables()) == [f"table{number}" for number in range(1, 9)]
    with pytest.raises(UnknownNameError, match="no 'table9'.*There are: table1, table2"):
        find_table("table9")


@pytest.mark.parametrize("name", list(paper_tables()))
def test_published_averages_are_those_of_the_published_numbers(name):
    table = find_table(name)
    for system in table.systems:
        assert len(system.published) == len(table.columns)
        if system.average is not None:
            mean = sum(system.published) / len(system.published)
            assert system.average == pytest.approx(mean, abs=0.07), system.name


@pytest.mark.parametrize("name", list(paper_tables()))
def test_every_row_names_a_mapper_that_is_there(name):
    for system in find_table(name).systems:
        if system.mapper not in (None, UNMAPPED):
            mapper = as_mapper(system.mapper)
            assert mapper.joint or not (system.joint or system.method == "joint")
            assert (system.method == "direct") == (name == "table6" and not mapper.needs_dictionary)
            as_retrieval(system.retrieval)


def test_numbers_stand_in_the_papers_cells():
    table = find_table("table1")
    geomm = next(system for system in table.systems if system.name == "GeoMM")
    assert table.published(geomm, "zh-en") == 45.3 and table.published(geomm, "avg.") == 70.0
    assert table.published(geomm, "es-en-it") is None
    mu = next(system for system in table.systems if system.name == "MSF_mu")
    assert table.published(mu, "en-ru") is None and mu.average is None
