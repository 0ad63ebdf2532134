"""[fit] A start for self-learning without a dictionary: seeds in turn, until one is confirmed.

    seed pairs -> rotations among 2,000 words -> the method's own maps among 4,000 words

The first seed whose maps are confirmed (see `confirmation`) is taken, else the one that recovers
most. Pairs of a seed by spelling are spread over the whole vocabulary, so that they skip the
rotations among few words; they are poor, so that what the letters say keeps a say for longer: a
bonus beside CSLS, also among 10,000 words, before the method goes on by vectors alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from geomm_plugin import progress
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError, UnsupervisedError
from geomm_plugin.fitting.confirmation import is_confirmed, least_recover
from geomm_plugin.fitting.growth import Fit, Growth, Stage, grow, rotation
from geomm_plugin.fitting.recover import RECOVER_WORDS, recovered_share
from geomm_plugin.fitting.seeds import Language, Seed
from geomm_plugin.fitting.witnesses import witnessed
from geomm_plugin.language_graph import LanguagePair

ROTATIONS = Stage(words=2000, max_rounds=20, patience=3)
OWN_MAPS = Stage(words=4000, max_rounds=40, patience=6)
WITH_LETTERS = Stage(words=10_000, max_rounds=8, patience=3)


@dataclass(frozen=True)
class Start:
    """The pairs that a seed grew into, and the share of them that a rotation finds again."""

    seed: str
    seed_pairs: int
    pairs: RowPairs
    recover: float
    is_confirmed: bool


def hub_edges(languages: Mapping[str, Language], hub: str | None = None) -> list[LanguagePair]:
    """Return (language, hub) for all languages but the hub: by default that with the most words."""
    if hub is not None and hub not in languages:
        raise LanguagesError(
            f"The hub {hub!r} is none of the languages ({', '.join(languages)}). Name one."
        )
    chosen = min(languages, key=lambda n: (-len(languages[n]), n)) if hub is None else hub
    return [(language, chosen) for language in sorted(languages) if language != chosen]


def find_start(
    source: Language, target: Language, seeds: Sequence[Seed], fit: Fit, random_seed: int = 0
) -> Start:
    """Return the pairs of the first seed that is confirmed, else of the best one.

    Parameters
    ----------
    fit
        The method's own maps for some pairs.
    """
    best: Start | None = None
    for seed in seeds:
        with progress.task(f"Seed {seed.name}"):
            pairs = seed.pairs(source, target)
            if not len(pairs):
                continue
            start = _grown(seed, pairs, source, target, fit, random_seed)
        if start.is_confirmed:
            return start
        if best is None or start.recover > best.recover:
            best = start
    if best is None:
        raise UnsupervisedError(
            f"The seeds {', '.join(seed.name for seed in seeds)} find no pair of words. Try "
            "gromov_wasserstein, which needs no common spelling, or give a dictionary of a hundred "
            "pairs to a mapper such as geomm_plus."
        )
    return best


def _grown(
    seed: Seed, pairs: RowPairs, source: Language, target: Language, fit: Fit, random_seed: int
) -> Start:
    """Grow a seed's pairs, as far as needed until they are confirmed."""
    x, z = source.frequent(WITH_LETTERS.words), target.frequent(WITH_LETTERS.words)
    raised = seed.raised(source, target)
    start = Start(seed.name, len(pairs), pairs, 0.0, False)
    if not seed.by_spelling:
        rotate = rotation(source.vectors, target.vectors)
        start = _judged(start, grow(x, z, pairs, rotate, ROTATIONS), source, target, random_seed)
    if not start.is_confirmed and len(start.pairs):
        growth = grow(x, z, start.pairs, fit, OWN_MAPS, raised)
        if raised is not None and len(growth.pairs):
            growth = grow(x, z, growth.pairs, fit, WITH_LETTERS, raised)
        start = _judged(start, growth, source, target, random_seed)
    return start


def _judged(
    start: Start, growth: Growth, source: Language, target: Language, random_seed: int
) -> Start:
    """Return the pairs that the start has grown into, and whether they are confirmed."""
    x, z = source.frequent(RECOVER_WORDS), target.frequent(RECOVER_WORDS)
    share = recovered_share(x, z, growth.pairs.source, growth.pairs.target, random_seed)
    needed = least_recover(growth.source, growth.target)
    witness = witnessed(source, target, growth.source, growth.target)
    is_right = is_confirmed(share, needed, witness)
    return replace(start, pairs=growth.pairs, recover=share, is_confirmed=is_right)
