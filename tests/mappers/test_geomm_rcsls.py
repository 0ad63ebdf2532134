import numpy as np


def test_without_steps_it_is_geomm(two):
    start = two.fit("geomm_rcsls", regularization=3.0, iterations=0)
    geomm = two.fit("geomm", regularization=3.0)
    ratio = geomm.W("en", "es") / start.W("en", "es")
    np.testing.assert_allclose(ratio, np.full_like(ratio, ratio[0, 0]), rtol=1e-6)
    assert np.linalg.norm(start.W("en", "es"), 2) <= 1 + 1e-9


def test_lambda_is_chosen_as_geomm_does(two):
    assert (
        two.fit("geomm_rcsls", iterations=0).report_.regularization["en-es"]
        == two.fit("geomm").report_.regularization["en-es"]
    )


def test_steps_lower_the_loss_from_geomm_on(two):
    losses = two.fit("geomm_rcsls", iterations=6).report_.extras["descent"]["en-es"]["losses"]
    assert len(losses) == 7
    assert (np.diff(losses) < 0).all()
