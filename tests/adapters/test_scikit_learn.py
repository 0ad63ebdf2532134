"""scikit-learn's conventions, proved with scikit-learn: its own checks, pipelines, grid search."""

import numpy as np
import pytest

from geomm_plugin import CSLS, get_mapper, registry
from geomm_plugin.testing import make_toy

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from geomm_adapters.scikit_learn import MapperTransformer  # noqa: E402


@pytest.fixture
def paired():
    toy = make_toy(words=150)
    return toy.embeddings["en"].vectors, toy.embeddings["es"].vectors


# scikit-learn's data have single columns, of which unit length and centering leave nothing.
@parametrize_with_checks(
    [
        MapperTransformer(get_mapper("procrustes")),
        MapperTransformer(get_mapper("geomm", normalize=())),
        MapperTransformer(get_mapper("regression", normalize=())),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(set(registry.mappers) - {"adv_refine"}))  # needs torch
def test_every_mapper_can_be_cloned(name):
    mapper = get_mapper(name)
    changed = (
        mapper.set_params(normalize=("unit",)) if "normalize" in mapper.get_params() else mapper
    )
    copy = clone(changed)
    assert copy is not changed and type(copy) is type(changed)
    assert copy.get_params() == changed.get_params()
    assert not hasattr(clone(make_toy().fit(mapper)), "matrices_")


def test_it_maps_as_the_mapper_does(paired):
    x, y = paired
    transformer = MapperTransformer("procrustes").fit(x, y)
    mapper = transformer.mapper_
    np.testing.assert_array_equal(transformer.transform(x), mapper.transform("x", x))
    np.testing.assert_array_equal(transformer.transform_target(y), mapper.transform("y", y))
    assert mapper.report_.pairs["x-y"].used == len(x)


def test_the_score_is_the_share_of_rows_that_find_their_own(paired):
    x, y = paired
    for retrieval in ("cosine", CSLS(k=5)):
        transformer = MapperTransformer("procrustes", retrieval).fit(x[:100], y[:100])
        assert transformer.score(x[100:], y[100:]) > 0.9
        assert transformer.score(x[100:], y[100:][::-1]) < 0.1


def test_it_works_in_a_pipeline_and_keeps_the_mapper_it_was_given(paired):
    x, y = paired
    given = get_mapper("geomm", regularization=1.0)
    pipeline = make_pipeline(PCA(8, random_state=0), MapperTransformer(given)).fit(x, y)
    assert pipeline.transform(x).shape == (len(x), 8)
    assert not hasattr(given, "matrices_")
    assert pipeline.score(x, y) > 0.9
    names = pipeline.get_feature_names_out()
    assert list(names[:2]) == ["mappertransformer0", "mappertransformer1"]


def test_grid_search_chooses_parameters_and_mappers(paired):
    x, y = paired
    noise = np.random.default_rng(0).standard_normal(y.shape).astype(np.float32)
    y = y + 0.5 * noise
    search = GridSearchCV(
        MapperTransformer(get_mapper("geomm")),
        [
            {"mapper__regularization": [0.1, 10.0]},
            {"mapper": [get_mapper("procrustes")], "retrieval": ["cosine", CSLS(k=5)]},
        ],
        cv=3,
    ).fit(x, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 4 and np.isfinite(scores).all()
    assert search.best_score_ == scores.max()
    assert search.transform(x).shape[0] == len(x)


def test_rows_of_another_width_are_refused(paired):
    x, y = paired
    transformer = MapperTransformer("procrustes").fit(x, y)
    with pytest.raises(ValueError, match="expecting 12 features"):
        transformer.transform(x[:, :3])
    with pytest.raises(ValueError, match="y had 12 columns in fit; it has 3"):
        transformer.transform_target(y[:, :3])
