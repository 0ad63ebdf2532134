import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper, hookimpl, registry
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.fitting.seeds import Seed, as_seed
from geomm_plugin.fitting.seeds.seed import mutual_best, weighted_pairs
from geomm_plugin.registry.parameters import parameters_of
from geomm_plugin.testing import check_seed

QUICK = {"icp": "icp:starts=8,steps=5"}


@pytest.mark.parametrize("name", [name for name in registry.seeds if name != "adversarial"])
def test_contract(name):
    seed = as_seed(QUICK.get(name, name))
    check_seed(type(seed), **{name: getattr(seed, name) for name in parameters_of(type(seed))})


class Broken(Seed):
    """A seed that breaks what it is told to."""

    name = "broken"

    def __init__(self, *, rows=0, weight=1.0, induced=True):
        self.rows, self.weight, self.induced = rows, weight, induced

    def pairs(self, source, target):
        rows = np.arange(3) + self.rows
        return RowPairs(
            rows, np.arange(3), labels=np.full(3, self.weight), induced=np.full(3, self.induced)
        )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rows": 298}, "rows of the languages"),
        ({"weight": 2.0}, "1 on average"),
        ({"weight": np.nan}, "finite"),
        ({"induced": False}, "mark all as induced"),
    ],
)
def test_the_contract_finds_what_is_broken(params, message):
    with pytest.raises(AssertionError, match=message):
        check_seed(Broken, **params)


def test_parameters_of_a_seed_are_read_from_text_and_checked():
    assert as_seed("gromov_wasserstein:words=50,frequency=0").words == 50
    with pytest.raises(ParameterError, match="words"):
        as_seed("gromov_wasserstein:words=1")
    with pytest.raises(UnknownNameError, match="Did you mean 'sorted_rows'"):
        as_seed("sorted_row")


def test_mutual_best_are_largest_in_row_and_column():
    rows, columns = mutual_best(np.array([[3.0, 1.0], [4.0, 2.0]]))
    assert (rows.tolist(), columns.tolist()) == ([1], [0])


def test_weights_are_one_on_average():
    pairs = weighted_pairs(np.array([0, 1]), np.array([1, 0]), np.array([1.0, 3.0]))
    assert pairs.labels.tolist() == [0.5, 1.5]
    assert weighted_pairs(np.array([0]), np.array([0]), np.zeros(1)).labels.tolist() == [1.0]


def test_seeds_of_a_plugin_are_found_by_name_and_start_mappers(rotated):
    class Known(Seed):
        """Row by row."""

        name = "known"

        def pairs(self, source, target):
            rows = np.arange(len(source))
            return weighted_pairs(rows, rows, np.ones(len(rows)))

    class Plugin:
        @hookimpl
        def register_seeds(self):
            return [Known]

    plugin = Plugin()
    registry.plugins.register(plugin)
    try:
        pairs = as_seed("known").pairs(*rotated)
        assert (pairs.source == pairs.target).all()
        x, z = (Embeddings(each.words, each.vectors) for each in rotated)
        mapper = get_mapper("procrustes_semi", seeds=("known",)).fit({"x": x, "z": z}, {})
        assert mapper.report_.seeds == {"z-x": f"known: {len(pairs)} pairs"}
        assert mapper.report_.recover["z-x"] > 0.9
    finally:
        registry.plugins.unregister(plugin)
    assert "known" not in registry.seeds
