"""Adversarial training; where torch is there (make test-torch), also with it."""

import importlib.util

import numpy as np
import pytest

from geomm_plugin import get_mapper
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, MissingExtraError
from geomm_plugin.fitting.seeds import as_seed
from geomm_plugin.fitting.seeds.adversarial import mean_csls, spread
from geomm_plugin.testing import make_toy
from geomm_plugin.testing.mapper_contract import (
    check_dictionaries,
    check_fit_and_transform,
    check_not_fitted,
    check_parameters_are_stored,
    check_randomness,
    check_saved_and_loaded,
    check_two_fits_agree,
)

WITH_TORCH = importlib.util.find_spec("torch") is not None
QUICK = ("adversarial:epochs=2,steps=10,hidden=8",)


@pytest.mark.skipif(WITH_TORCH, reason="torch is there")
def test_without_torch_the_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"geomm-plugin\[torch\]"):
        get_mapper("adv_refine").fit(make_toy().embeddings, {})


@pytest.mark.skipif(not WITH_TORCH, reason="make test-torch installs it")
@pytest.mark.parametrize(
    "check",
    [check_fit_and_transform, check_randomness, check_saved_and_loaded, check_two_fits_agree],
    ids=lambda check: check.__name__,
)
def test_contract_with_torch(check):
    check(lambda: get_mapper("adv_refine", seeds=QUICK))


@pytest.mark.skipif(not WITH_TORCH, reason="make test-torch installs it")
def test_the_discriminator_learns_to_tell_languages_apart_and_the_map_moves():
    from geomm_plugin.fitting.seeds.adversarial import Game

    random = np.random.default_rng(0)
    x, z = random.normal(size=(2, 200, 6)).astype(np.float32) + np.array([[[2.0]], [[0]]], "f4")
    game = Game(as_seed("adversarial:hidden=16,dropout=0,discriminator_steps=100"), x, z)
    before = game.map()
    game.step()
    assert not np.allclose(before, game.map())
    guesses = game.discriminator(game.torch.tensor(np.concatenate([x, z]))).squeeze(1)
    is_right = (guesses > 0).numpy() == (np.arange(400) < 200)
    assert is_right.mean() > 0.9


def test_games_differ_in_their_random_seed_only():
    starts = get_mapper("adv_refine", seed=7, games=3).starts()
    assert [seed.seed for seed in starts] == [7, 8, 9]
    mapper = get_mapper("adv_refine", seeds=("adversarial:seed=5", "cognates", "adversarial"))
    assert [seed.name for seed in mapper.set_params(games=2).starts()] == [
        *("adversarial", "cognates", "adversarial", "adversarial")
    ]
    assert [seed.seed for seed in mapper.starts() if seed.name == "adversarial"] == [5, 0, 1]


def test_axes_have_a_sign_and_numbers_a_size():
    random = np.random.default_rng(0)
    rows = random.exponential(size=(500, 12)) * np.linspace(3, 1, 12)
    turn = np.linalg.qr(random.normal(size=(12, 12)))[0]
    one, other = (spread(each.astype(np.float32), 5) for each in (rows, rows @ turn))
    assert one.shape == (500, 5)
    assert (one**2).mean() == pytest.approx(1, abs=1e-3)
    assert np.allclose(one, other, atol=1e-2)  # whatever the rotation of the space was
    assert spread(rows.astype(np.float32), 0).shape == rows.shape


@pytest.mark.parametrize(
    "check",
    [check_parameters_are_stored, check_not_fitted, check_dictionaries],
    ids=lambda check: check.__name__,
)
def test_contract_without_a_fit(check):
    check(lambda: get_mapper("adv_refine"))


def test_spaces_of_different_dimensions_are_refused():
    one, other = (Embeddings(list("abc"), np.eye(3, size, dtype=np.float32)) for size in (2, 3))
    with pytest.raises(LanguagesError, match="2 and 3"):
        as_seed("adversarial").pairs(one, other)


def test_the_mean_csls_is_highest_for_the_right_map():
    x = np.random.default_rng(0).normal(size=(100, 10)).astype(np.float32)
    other = np.random.default_rng(1).normal(size=(100, 10)).astype(np.float32)
    assert mean_csls(x, x) > mean_csls(x, other) + 0.2
