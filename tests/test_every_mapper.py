"""One suite for all mappers: the contract, and the real words of the demo data."""

import inspect
import os
import re

import numpy as np
import pytest

from geomm_plugin import evaluate, get_mapper, registry
from geomm_plugin.testing.mapper_contract import CHECKS, check_hard_numbers, check_many_dimensions
from geomm_plugin.testing.toys import hard_toys

ABLATIONS = {"metric_only": (0.02, 0.6), "rotation_only": (0.002, 0.3)}  # poor, as in the paper
GOOD = (0.85, 1.0)
MAPPERS = [name for name in registry.mappers if name != "adv_refine"]  # make test-torch


@pytest.mark.parametrize("name", MAPPERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(lambda: get_mapper(name))


def skip_unless_slow(name, fast):
    if name not in fast and "GEOMM_SLOW" not in os.environ:
        pytest.skip("Set GEOMM_SLOW=1 to run what takes minutes.")


@pytest.mark.parametrize("name", MAPPERS)
@pytest.mark.parametrize("steps", [(), ("center", "unitdim"), ("centeremb", "unit")])
def test_hard_numbers_with_other_normalizations(name, steps):
    skip_unless_slow(name, ("procrustes", "gpa", "cca", "msf", "rcsls", "regression"))
    check_hard_numbers(lambda: get_mapper(name, normalize=steps))


@pytest.mark.parametrize("name", MAPPERS)
def test_hard_numbers_are_fitted_and_not_refused(name):
    """A contract takes a refusal, too; these mappers need none."""
    toys = hard_toys()
    for label in ("zero vectors", "huge and tiny numbers", "the largest numbers", "float16"):
        toy, mapper = toys[label], get_mapper(name)
        toy.fit(mapper)
        for language, embeddings in toy.embeddings.items():
            assert np.isfinite(mapper.transform(language, embeddings.vectors)).all(), label


@pytest.mark.parametrize("name", MAPPERS)
def test_many_dimensions(name):
    skip_unless_slow(name, ("procrustes", "gpa", "cca"))
    check_many_dimensions(lambda: get_mapper(name))


@pytest.mark.parametrize("name", MAPPERS)
def test_translates_real_words(name, demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    mapper = get_mapper(name)
    given = {("en", "es"): demo.train["en", "es"]} if mapper.needs_dictionary else {}
    space = mapper.fit(embeddings, given).map(embeddings)
    result = evaluate(space, "en", "es", demo.test["en", "es"])
    lowest, highest = ABLATIONS.get(name, GOOD)
    assert lowest <= result.scores["p@1"] <= highest


FORMULA = re.compile(r"^ {4}.*\bmin over \S.* of(\s|$)", re.MULTILINE)  # set off from the prose
PAPER = re.compile(r'\b(19|20)\d\d\b|\bpaper\b|\bdocs, "')  # or the page of what is our own


@pytest.mark.parametrize("name", MAPPERS)
def test_every_mapper_tells_its_paper_and_formula(name):
    text = inspect.getdoc(inspect.getmodule(registry.mappers[name]))
    assert FORMULA.search(text), (
        "the module's docstring needs its problem: '    min over ... of ...'"
    )
    assert PAPER.search(text), "the module's docstring needs the paper and its year"


def test_a_formula_is_more_than_three_letters():
    for text in ("Of the determinant, 2019.", "We min over W of the loss.", "    min over of"):
        assert not FORMULA.search(text)
    assert not PAPER.search("Page 120199 of the papers.")
