from dataclasses import replace

import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper, hookimpl, registry
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.fitting.seeds import Seed, as_seed
from geomm_plugin.fitting.seeds.seed import mutual_best, weighted_pairs

QUICK = {"icp": "icp:starts=8,steps=5"}


def spelt(numbers):
    letters = str.maketrans("0123456789", "abcdefghij")
    return ["word" + number.translate(letters) for number in numbers]


@pytest.mark.parametrize("name", [name for name in registry.seeds if name != "adversarial"])
def test_every_seed_returns_weighted_pairs_that_nobody_gave(name, rotated):
    choice = QUICK.get(name, name)
    if name == "cognates":  # numbers have no letters
        rotated = [replace(language, words=spelt(language.words)) for language in rotated]
    pairs = as_seed(choice).pairs(*rotated)
    assert pairs.induced.all() and len(pairs.induced) == len(pairs)
    assert np.isclose(pairs.labels.mean(), 1) and (pairs.labels >= 0).all()
    assert pairs.source.max() < len(rotated[0]) and pairs.target.max() < len(rotated[1])
    again = as_seed(choice).pairs(*rotated)
    assert np.array_equal(pairs.source, again.source)
    assert np.array_equal(pairs.labels, again.labels)


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
