"""Weights that come with the package, for languages whose dictionary is small or missing.

`shipped.json` was learnt on training words of en-es and en-it (900 of each, maps and features from
100 other pairs): as they are (`alike`, for near languages), and with each target word spelt at
random, the weights of letters at their fixed values (`different`, for distant ones). The parameters
of the probabilities were learnt on as many training words of en-es, en-it and ru-fr, each pair's by
weights of another pair. That the two mix by the root of the share was chosen on these words, too.

benchmarks/shipped_weights.py repeats the steps on any dictionaries. Its random spellings are
others, and it learns probabilities from the pairs of the weights: its numbers are near, not equal.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources

from geomm_plugin.retrieval.rerank.learnt import Belief, Learnt

SHARE = 0.45  # of pairs spelt alike in the languages that `alike` was learnt on


def belief_of_fixed() -> Belief:
    """Say how sure answers by the fixed weights are."""
    belief = _read("fixed").belief
    assert belief is not None
    return belief


def weights(share: float) -> Learnt:
    """Return weights for languages of which this share of translations is spelt alike."""
    alike, different = _read("alike"), _read("different")
    much = math.sqrt(min(1.0, share / SHARE))
    mixed = {name: own + (alike[name] - own) * much for name, own in different.items()}
    return Learnt(mixed, belief=alike.belief)


@cache
def _read(name: str) -> Learnt:
    text = resources.files("geomm_plugin.retrieval.rerank").joinpath("shipped.json").read_text()
    return Learnt.from_state(json.loads(text)[name], {})
