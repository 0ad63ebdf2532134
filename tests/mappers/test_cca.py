import numpy as np


def test_canonical_variates_are_white_and_correlate_only_in_pairs(two):
    cca = two.fit("cca", keep=1.0)
    x, z = two.rows(cca, "en", "es")
    x, z = x @ cca.matrices_["en"], z @ cca.matrices_["es"]
    np.testing.assert_allclose(x.T @ x, np.eye(12), atol=1e-8)
    np.testing.assert_allclose(z.T @ z, np.eye(12), atol=1e-8)
    correlations = np.diag(x.T @ z)
    np.testing.assert_allclose(x.T @ z, np.diag(correlations), atol=1e-8)
    assert (np.diff(correlations) <= 1e-12).all()
    assert correlations[0] <= 1 + 1e-12
    assert correlations[-1] >= 0


def test_agrees_with_scikit_learn(two):
    from sklearn.cross_decomposition import CCA

    cca = two.fit("cca", keep=0.25)
    x, z = two.rows(cca, "en", "es")
    # scikit-learn centers the pairs; twice the rows with both signs are centered already.
    x, z = np.concatenate([x, -x]), np.concatenate([z, -z])
    theirs = CCA(n_components=3, max_iter=5000, tol=1e-12, scale=False).fit(x, z)
    a, b = theirs.transform(x, z)
    expected = [np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(3)]
    ours_a, ours_b = x @ cca.matrices_["en"], z @ cca.matrices_["es"]
    found = [np.corrcoef(ours_a[:, i], ours_b[:, i])[0, 1] for i in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_keeps_the_fraction_of_the_smaller_dimension(uneven):
    cca = uneven.fit("cca", keep=0.5)
    assert cca.matrices_["en"].shape == (12, 4)
    assert cca.matrices_["es"].shape == (9, 4)
    assert uneven.fit("cca", keep=0.0).matrices_["es"].shape == (9, 1)


def test_linear_changes_of_a_language_change_nothing(two):
    """Canonical correlations do not depend on the basis of either language."""
    from geomm_plugin import Embeddings

    before = two.fit("cca", keep=1.0, normalize=())
    change = np.random.default_rng(3).normal(size=(12, 12))
    en = two.embeddings["en"]
    two.embeddings["en"] = Embeddings(en.words, en.vectors.astype(np.float64) @ change)
    after = two.fit("cca", keep=1.0, normalize=())
    np.testing.assert_allclose(
        change @ after.W("en", "es"), before.W("en", "es"), rtol=1e-5, atol=1e-7
    )
