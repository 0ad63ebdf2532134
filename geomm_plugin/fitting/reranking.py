"""Weights of a re-ranking, learnt from the training dictionary on words that the map did not see.

A map puts the words it was fitted on nearer to their translations than it puts any others, so that
they would teach to trust vectors too much. The source words of the dictionary are divided into
three parts; one is translated by a mapper fitted on the other two, whose pairs are all that the
features know, and its words choose among candidates (retrieval.rerank.logit). How sure the answers
are (retrieval.rerank.learnt) is learnt in turn on words that the weights were not learnt from.

A dictionary of few words, or none, teaches no weights. There the weights come with the package,
learnt on other languages, and features learn from the pairs that the map itself induces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Vector
from geomm_plugin.dictionary import Dictionaries, Dictionary, as_dictionaries
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import NotFittedError, ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Reranked, best_neighbors
from geomm_plugin.retrieval.rerank import SparseFeature
from geomm_plugin.retrieval.rerank.learnt import Belief, Learnt, shipped_weights
from geomm_plugin.retrieval.rerank.logit import SCALE, Choices, Weights, learn_weights
from geomm_plugin.retrieval.rerank.ngrams import Ngrams
from geomm_plugin.retrieval.rerank.reranked import RerankedIndex
from geomm_plugin.shared_space import Reranking, SharedSpace

Pair: TypeAlias = tuple[str, str]

FEATURES = (
    *("letters", "identical", "length", "learnt_letters", "endings"),
    *("residual", "dictionary", "frequency"),
)
PARTS = 3
MIN_WORDS = 1000  # source words of a dictionary; fewer leave the weights that come with the package
FREQUENT_WORDS = 8000  # among which pairs are induced
MOST_INDUCED = 4000
MIN_COSINE = 0.3  # of the n-grams of words that are spelt alike


def learn_reranking(
    mapper: Mapper,
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    *,
    retrieval: str | Reranked = "reranked",
    folds: int = 1,
    seed: int = 0,
) -> Reranking:
    """Learn the weights of the retrieval "reranked" for a mapper; it carries them from then on.

    Spaces that the mapper makes use them, and save_mapper saves them. The mapper may be fitted or
    not, and stays as it is: copies of it are fitted, one for each fold. Returns what was learnt for
    each pair of languages.

    Parameters
    ----------
    dictionaries
        What the mapper learns from. Each gives weights for its pair of languages, both ways.
    retrieval
        Which features are weighed, and over which base: "reranked:features=letters,frequency".
    folds
        How many of the three parts of the words teach; each costs a fit.
    """
    chosen = as_retrieval(retrieval)
    if not isinstance(chosen, Reranked):
        raise ParameterError(f"Only the retrieval 'reranked' has weights to learn, not {chosen!r}.")
    if not 1 <= folds <= PARTS:
        raise ParameterError(
            f"The words have {PARTS} parts, of which 1 or more teach, not {folds}."
        )
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    known = dict.fromkeys(combinations(languages, 2), Dictionary([]))
    if mapper.needs_dictionary:
        known = {
            (source, target): Dictionary(
                (x, z) for x, z in given if x in languages[source] and z in languages[target]
            )
            for (source, target), given in as_dictionaries(dictionaries).items()
        }
    chosen = replace(chosen, features=chosen.features or FEATURES, weights="fixed")
    enough = [own for own in known if len({source for source, _ in known[own]}) >= MIN_WORDS]
    choices = _choices(mapper, languages, known, enough, chosen, folds, seed)
    learnt = {pair: _learnt(own, known[pair], chosen, seed) for pair, own in choices.items()}
    if others := [pair for pair in known if pair not in learnt]:
        fitted = mapper
        try:
            mapper.state()
        except NotFittedError:
            fitted = mapper.clone().fit(languages, known if mapper.needs_dictionary else {})
        space = fitted.map(languages)
        for pair in others:
            learnt[pair] = _induced(space, pair, known[pair], chosen)
    mapper.reranking_ = learnt
    return learnt


def _choices(
    mapper: Mapper,
    languages: Mapping[str, Embeddings],
    dictionaries: Mapping[Pair, Dictionary],
    teaching: Sequence[Pair],
    retrieval: Reranked,
    folds: int,
    seed: int,
) -> dict[Pair, Choices]:
    """Return the candidates of the words that teach, each by a map that did not see it."""
    part_of = {pair: _parts(given, seed) for pair, given in dictionaries.items()}
    found: dict[Pair, list[Choices]] = {pair: [] for pair in teaching}
    for fold in progress.over("Learning to re-rank", range(folds if teaching else 0), "folds"):
        kept, aside = (
            {
                pair: Dictionary(p for p in given if (part_of[pair][p[0]] == fold) is wanted)
                for pair, given in dictionaries.items()
            }
            for wanted in (False, True)
        )
        space = mapper.clone().fit(languages, kept).map(languages)
        for pair in teaching:
            known = replace(retrieval, weights=Learnt({}, list(kept[pair])))
            index = known.index(*(space.unit_rows(language) for language in pair))
            found[pair].append(_choices_of_part(index, space, pair, aside[pair]))
    return {pair: Choices.joined(own) for pair, own in found.items()}


def _parts(dictionary: Dictionary, seed: int) -> dict[str, int]:
    """Divide the source words; all translations of a word fall into one part."""
    words = sorted({source for source, _ in dictionary})
    numbers = np.random.default_rng(seed).permutation(len(words)) % PARTS
    return dict(zip(words, numbers.tolist(), strict=True))


def _choices_of_part(
    index: RerankedIndex, space: SharedSpace, pair: Pair, dictionary: Dictionary
) -> Choices:
    """Return the candidates of some words, their numbers, and which of them are correct."""
    source, target = pair
    words = list(dict.fromkeys(word for word, _ in dictionary))
    queries = space.queries(words, source)
    candidates = index.candidates(queries)
    number_of = {word: number for number, word in enumerate(words)}
    size, row_of = len(space[target]), space[target].row_of
    gold = [number_of[word] * size + row_of[other] for word, other in dictionary]
    keys = np.arange(len(words))[:, None] * size + candidates.columns
    return Choices(
        candidates.base,
        candidates.numbers,
        index.table(queries, candidates),
        np.isin(keys, gold) & (candidates.columns >= 0),
        index.log_ranks(queries),
    )


def _learnt(choices: Choices, dictionary: Dictionary, retrieval: Reranked, seed: int) -> Learnt:
    """Return weights learnt from all words, and how sure answers by such weights are."""
    fixed = retrieval.fixed_weights()
    prior = Weights(SCALE, np.array(list(fixed.values())), np.zeros(choices.table.shape[1]))
    weights = learn_weights(choices, prior)
    part_of = np.random.default_rng(seed).permutation(len(choices)) % PARTS
    scores = np.empty_like(choices.base)
    for part in range(PARTS):
        aside = np.flatnonzero(part_of == part)
        others = learn_weights(choices.take(np.flatnonzero(part_of != part)), prior)
        scores[aside] = others.scores(choices.take(aside))
    columns = _columns(retrieval, weights.columns)
    return Learnt(
        dict(zip(fixed, weights.numbers.tolist(), strict=True)) | dict.fromkeys(columns, 1.0),
        list(dictionary),
        columns,
        Belief.of(scores, choices.is_correct, choices.log_ranks),
    )


def _columns(retrieval: Reranked, weights: Vector) -> dict[str, Vector]:
    """Return the weights of columns by the sparse feature that they are of."""
    kinds = [kind for kind in retrieval.feature_classes() if issubclass(kind, SparseFeature)]
    ends = np.cumsum([kind.columns for kind in kinds])
    parts = np.split(weights.astype(np.float32), ends[:-1]) if kinds else []
    return {kind.name: part for kind, part in zip(kinds, parts, strict=True)}


def _induced(
    space: SharedSpace, pair: Pair, dictionary: Iterable[tuple[str, str]], retrieval: Reranked
) -> Learnt:
    """Return weights of other languages, and the pairs that a map induces to learn letters from.

    Weights of languages that are spelt alike count by the root of the share of induced pairs that
    are spelt alike, those of languages that are spelt differently for the rest.
    """
    x, z = (space.unit_rows(language).head(FREQUENT_WORDS) for language in pair)
    rows, columns, scores = best_neighbors(x, z).mutual()
    best = np.sort(np.argsort(-scores, kind="stable")[:MOST_INDUCED])
    here, there = (space[language].words for language in pair)
    pairs = [(here[rows[n]], there[columns[n]]) for n in best.tolist()]
    ngrams = Ngrams.of(here, there)
    alike = ngrams.pairs([word for word, _ in pairs], columns[best][:, None]) > MIN_COSINE
    others = shipped_weights(float(alike.mean()) if len(pairs) else 0.0)
    fixed = retrieval.fixed_weights()
    weights = {name: others.get(name, weight) for name, weight in fixed.items()}
    return Learnt(weights, list(dict.fromkeys([*dictionary, *pairs])), {}, others.belief)
