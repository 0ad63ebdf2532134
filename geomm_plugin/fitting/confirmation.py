"""[fit] Whether maps found translations: with a dictionary, without one, and in aligned files.

*With a dictionary* (`doubt_of_fit`): a rotation fitted to one half of its words ranks the pairs of
the other half, and both halves change places. Pairs drawn by chance rank in the middle. Where the
fit chose its lambda on held-out words, their P@1 is looked at first.

*In files* (`doubt_of_space`): of the frequent words of two languages in one space, each is nearer
to its nearest than after a random rotation of the other one; words of the same spelling are near.

*Without a dictionary* (`doubt`), with the mutual pairs of the maps in two random halves, and
cognates, words of similar spelling:

    R = rotation fitted on one half, and for three rounds on what its own words pair up to
    split-half agreement = share of the other half whose best by CSLS after R is its partner
    cognate precision = share of the cognates that the maps translate to each other, by CSLS

Right maps agree with *one* rotation, whichever pairs it is fitted on; of wrong ones each half asks
for another. Pairs that were chosen by a rotation are found by one again even where they are wrong:
they need more. Reports call the two `recover` and `witnessed` (docs, "No dictionary?").
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.dictionary import Dictionary, RowPairs, row_pairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import few_threads, polar, svd
from geomm_plugin.fit_report import ALL_DICTIONARIES, report_of
from geomm_plugin.fitting.held_out import Pool, divide
from geomm_plugin.fitting.induction import rounds
from geomm_plugin.fitting.moments import cross
from geomm_plugin.fitting.seeds.seed import frequent, unit_images
from geomm_plugin.fitting.seeds.spelling import cognate_rows, shared_words
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.normalize import ROTATION_TOLERANCE, Normalizer, unit
from geomm_plugin.retrieval import best_neighbors, mutual_neighbors
from geomm_plugin.rows import Rows

MIN_AGREEMENT = 0.5
MIN_AGREEMENT_OF_ROTATIONS = 0.75
MIN_COGNATE_PRECISION = 0.05
FEWEST_COGNATES = 50  # that a verdict needs
FEWEST_PAIRS = 4  # two halves of two
LOOKED_AT_WORDS = 4000  # most frequent words of each language
OWN_ROUNDS = 3  # that one half of the words is left alone for

CLEAR_PRECISION = 0.1  # held-out P@1 of a fit that needs no closer look
MAX_MEAN_RANK = 0.35  # of held-out pairs, as a share of all ranks; by chance it is a half
FEWEST_JUDGED = 100  # source words of a dictionary; halves of fewer are too small to say anything
MIN_FIRST = 0.02  # share of held-out pairs that rank first, of a dictionary of ENOUGH_JUDGED words
ENOUGH_JUDGED = 200
MOST_JUDGED = 1000  # source words, drawn by chance; more cost time and change nothing

LOOKED_AT_ROWS = 1000  # most frequent words of each language in one space
LEAST_ROWS, LEAST_DIMENSIONS = 500, 20  # of a verdict; in small spaces all words are near
MIN_NEARNESS = 1.1  # mean largest cosine, relative to that after a random rotation
MIN_NEARNESS_UNLIKE = 1.35  # the same, where words of one spelling are no nearer than others
MAX_RANK_OF_ALIKE = 0.45  # their mean rank among each other, as a share; by chance it is a half
MOST_ALIKE = 500


def doubt(agreement: float, needed: float, cognates: float | None) -> str:
    """Say why maps may have found no translations; nothing if all that is known holds.

    Parameters
    ----------
    agreement, needed
        Split-half agreement of the mutual pairs, and what such maps need.
    cognates
        Cognate precision; None where there are too few.
    """
    if not agreement >= needed:
        return f"{agreement:.0%} of its pairs are confirmed by the others, {needed:.0%} are needed"
    if cognates is not None and not cognates >= MIN_COGNATE_PRECISION:
        return (
            f"{cognates:.0%} of the cognates are translated as each other, "
            f"{MIN_COGNATE_PRECISION:.0%} are needed; does every word stand beside its own vector?"
        )
    return ""


def doubt_of_fit(
    mapper: Mapper,
    embeddings: Mapping[str, Embeddings],
    dictionaries: Mapping[LanguagePair, Dictionary],
) -> str:
    """Say why a fit may have learnt nothing from its dictionaries; nothing if all of them hold.

    Dictionaries of fewer than 100 words are not judged.
    """
    chosen = report_of(mapper).regularization
    reasons = []
    for (s, t), dictionary in dictionaries.items():
        choice = chosen.get(f"{s}-{t}", chosen.get(ALL_DICTIONARIES))
        first = max(choice.scores.values(), default=None) if choice else None
        if first is not None and first >= CLEAR_PRECISION:
            continue
        pairs = row_pairs(dictionary, embeddings[s], embeddings[t])
        if len(np.unique(pairs.source)) < FEWEST_JUDGED:
            continue
        if isinstance(mapper, LinearMapper):
            normalizer = mapper.normalizer_
        else:
            normalizer = Normalizer(("unit",)).fit({s: embeddings[s].rows, t: embeddings[t].rows})
        x, z = (normalizer.view(name, embeddings[name].rows) for name in (s, t))
        words, rank, ranked_first = held_out_ranks(x, z, pairs)
        first = ranked_first if first is None else first
        if not rank <= MAX_MEAN_RANK:
            reasons.append(
                f"held-out words of {s}-{t} are hardly nearer to their translations than to other "
                f"words ({rank:.0%} of these are as near; 50% by chance)"
            )
        elif words >= ENOUGH_JUDGED and not first >= MIN_FIRST:
            reasons.append(f"held-out words of {s}-{t} have a P@1 of {first:.3f}")
    if not reasons:
        return ""
    return (
        f"The fit found no translations: {'; '.join(reasons)}. Check that dictionary and vectors "
        "are of these languages, and that each word stands beside its own vector."
    )


def held_out_ranks(x: Rows, z: Rows, pairs: RowPairs, seed: int = 0) -> tuple[int, float, float]:
    """Return how many source words there are, the mean rank as a share, and how many are first.

    Each half of the words is ranked by the rotation of the other half; of many, one half is enough.
    """
    words = np.unique(pairs.source)
    if len(words) > MOST_JUDGED:
        words = np.random.default_rng(seed).choice(words, MOST_JUDGED, replace=False)
        pairs = pairs.take(np.flatnonzero(np.isin(pairs.source, words)))
    shares, first = [], []
    edge = ("", "")
    with few_threads(), np.errstate(all="ignore"):
        halves = divide({edge: pairs}, 0.5, seed, spare=0)
        for fold in halves[: 1 if len(words) >= 2 * ENOUGH_JUDGED else 2]:
            rotation = polar(cross(x, z, fold.train[edge]))
            pool = Pool(x, z, fold.held_out[edge])
            ranks, last = pool.ranks(rotation, np.eye(z.shape[1]))
            shares.append(ranks / last)
            first.append(ranks == 1)
    return len(words), float(np.concatenate(shares).mean()), float(np.concatenate(first).mean())


def doubt_of_space(space: Mapping[str, Embeddings]) -> str:
    """Say which languages do not seem to share a space with the first; nothing if all may.

    Small spaces are not judged.
    """
    first, *others = space
    apart = [name for name in others if _are_apart(space[first], space[name])]
    if not apart:
        return ""
    return (
        f"{first} and {', '.join(apart)} do not seem to share a space: their words are hardly "
        "nearer to each other than by chance. Align them first (`geomm align`), or name the mapper "
        "that these files belong to (--model)."
    )


def warn_if_apart(space: Mapping[str, Embeddings]) -> None:
    """Warn of languages that do not seem to share a space with the first."""
    if doubt := doubt_of_space(space):
        warnings.warn(doubt, stacklevel=3)


def _are_apart(source: Embeddings, target: Embeddings) -> bool:
    rows = min(len(source), len(target), LOOKED_AT_ROWS)
    if rows < LEAST_ROWS or source.dimension < LEAST_DIMENSIONS:
        return False
    x, z = (_spread(each.rows.take(slice(rows))) for each in (source, target))
    with few_threads(), np.errstate(all="ignore"):
        turn = polar(np.random.default_rng(0).standard_normal((z.shape[1], z.shape[1])))
        nearness = _nearness(x @ z.T) / _nearness(x @ (z @ turn.astype(z.dtype)).T)
        if not nearness < MIN_NEARNESS_UNLIKE:
            return False
        alike = shared_words(source.words, target.words)
        x, z = (
            unit(each.rows.take(alike_rows[:MOST_ALIKE]))
            for each, alike_rows in ((source, alike.source), (target, alike.target))
        )
        cosines = x @ z.T
    rank = float((cosines >= cosines.diagonal()[:, None]).mean()) if len(x) else 0.0
    is_unlike = len(x) >= FEWEST_COGNATES and rank > MAX_RANK_OF_ALIKE
    return nearness < MIN_NEARNESS or is_unlike


def _spread(vectors: Matrix) -> Matrix:
    """Return rows at length 1 around their mean."""
    rows = unit(vectors)
    return unit(rows - rows.mean(axis=0))


def _nearness(cosines: Matrix) -> float:
    """Return the mean of the largest cosine of each row and of each column."""
    return float(cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2


def needed_agreement(source_map: Matrix, target_map: Matrix) -> float:
    """Return the split-half agreement that maps need: more if they are rotations."""
    both = source_map @ target_map.T
    values = svd(both)[1] if np.isfinite(both).all() else np.zeros(1)
    is_rotation = values[-1] > (1 - ROTATION_TOLERANCE) * values[0]
    return MIN_AGREEMENT_OF_ROTATIONS if is_rotation else MIN_AGREEMENT


def split_half_agreement(
    source: Rows, target: Rows, source_map: Matrix, target_map: Matrix, seed: int = 0
) -> float:
    """Return how far the mutual pairs of two languages' maps confirm each other, from 0 to 1."""
    x, z = source[:LOOKED_AT_WORDS], target[:LOOKED_AT_WORDS]
    mapped_x, mapped_z = unit_images(x, source_map), unit_images(z, target_map)
    if not (np.isfinite(mapped_x).all() and np.isfinite(mapped_z).all()):
        return 0.0
    rows, columns, _ = mutual_neighbors(mapped_x, mapped_z)
    return agreement_of_pairs(x, z, rows, columns, seed)


def agreement_of_pairs(
    x: Matrix, z: Matrix, source: RowIndices, target: RowIndices, seed: int = 0
) -> float:
    """Return the share of one half of these pairs that a rotation of the other half finds.

    Parameters
    ----------
    x, z
        Normalized vectors of the most frequent words.
    source, target
        Rows of the pairs in these; further ones are left out.
    """
    inside = (source < len(x)) & (target < len(z))
    source, target = source[inside], target[inside]
    if len(source) < FEWEST_PAIRS:
        return 0.0
    random = np.random.default_rng(seed)
    fitted, asked = np.array_split(random.permutation(len(source)), 2)
    first = x[source[fitted]], z[target[fitted]]
    own_x = unit(_own_words(x, source[fitted], source[asked], random))
    own_z = unit(_own_words(z, target[fitted], target[asked], random))

    def paired(rotation: Matrix) -> tuple[Matrix, Matrix]:
        rows, columns, _ = mutual_neighbors(unit(own_x @ rotation), own_z)
        return own_x[rows], own_z[columns]

    for number, each in enumerate(rounds(first, _rotation, paired)):
        if number == OWN_ROUNDS:
            forth = best_neighbors(unit(x @ each.maps), unit(z)).forth
            return float((forth[source[asked]] == target[asked]).mean())
        if not len(each.found[0]):
            break
    return 0.0


def _own_words(
    vectors: Matrix, fitted: RowIndices, asked: RowIndices, random: np.random.Generator
) -> Matrix:
    """Return the words of the fitted half, and half of those that no pair holds."""
    is_own = random.random(len(vectors)) < 0.5
    is_own[fitted] = True
    is_own[asked] = False
    own: Matrix = vectors[is_own]
    return own


def _rotation(both: tuple[Matrix, Matrix]) -> Matrix:
    x, z = both
    cross = x.T.astype(np.float64) @ z.astype(np.float64)
    if not np.isfinite(cross).all():
        return np.zeros(cross.shape, np.float32)
    rotation: Matrix = polar(cross).astype(np.float32)
    return rotation


def cognate_precision(
    source: Embeddings, target: Embeddings, source_map: Matrix, target_map: Matrix
) -> float | None:
    """Return the share of cognates that the maps translate to each other; None if there are few.

    Where languages share hardly any spelling there are no cognates to ask; for maps that were
    started from cognates it says less.
    """
    words = LOOKED_AT_WORDS
    rows, columns, _ = cognate_rows(source.words[:words], target.words[:words])
    if len(rows) < FEWEST_COGNATES:
        return None
    x = unit_images(frequent(source, words), source_map)
    z = unit_images(frequent(target, words), target_map)
    forth = best_neighbors(x, z).forth
    return float((forth[rows] == columns).mean())
