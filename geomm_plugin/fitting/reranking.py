"""Weights of a re-ranking, learnt from the training dictionary by cross-fitting.

A map puts the words it was fitted on nearer to their translations than it puts any others, so that
they would teach to trust vectors too much. The dictionary is divided into folds by source word;
each fold is translated by a mapper fitted on the others, and its words choose among candidates
(retrieval.rerank.logit). A word counts by its frequency rank: words that will be asked about are
rarer than those of a training dictionary, and letters help rare words more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Mask, RowIndices
from geomm_plugin.dictionary import Dictionaries, Dictionary, as_dictionaries
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Reranked
from geomm_plugin.retrieval.rerank.logit import Choices, learn_weights
from geomm_plugin.shared_space import Reranking, SharedSpace

Pair: TypeAlias = tuple[str, str]

FOLDS = 3
MIN_WORDS = 100  # fewer words with a correct candidate teach nothing: the fixed weights stay
STRENGTH = 1.0  # with which learnt weights are held to the fixed ones


def learn_reranking(
    mapper: Mapper,
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    *,
    retrieval: str | Reranked = "reranked",
    folds: int = FOLDS,
    seed: int = 0,
) -> Reranking:
    """Learn the weights of the retrieval "reranked" for a mapper; it carries them from then on.

    Spaces that the mapper makes use them, and save_mapper saves them. The mapper may be fitted or
    not, and stays as it is: copies of it are fitted, one for each fold. Returns the weights of each
    pair of languages that has words enough.

    Parameters
    ----------
    dictionaries
        What the mapper learns from. Each gives weights for its pair of languages, both ways.
    retrieval
        Which features are weighed, and over which base: "reranked:features=letters,frequency".
    folds
        Into how many parts the words are divided; each costs a fit.
    """
    chosen = as_retrieval(retrieval)
    if not isinstance(chosen, Reranked):
        raise ParameterError(f"Only the retrieval 'reranked' has weights to learn, not {chosen!r}.")
    if folds < 2:
        raise ParameterError(f"Words are divided into at least 2 folds; folds is {folds}.")
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    known = {
        (source, target): Dictionary(
            pair for pair in given if pair[0] in languages[source] and pair[1] in languages[target]
        )
        for (source, target), given in as_dictionaries(dictionaries).items()
    }
    chosen = chosen.with_weights("fixed")
    fixed = chosen.fixed_weights()
    weights: dict[Pair, dict[str, float]] = {}
    for pair, choices in _choices(mapper, languages, known, chosen, folds, seed).items():
        if len(choices) >= MIN_WORDS:
            learnt = learn_weights(choices, np.array(list(fixed.values())), STRENGTH)
            weights[pair] = dict(zip(fixed, map(float, learnt), strict=True))
    mapper.reranking_ = weights
    return weights


def _choices(
    mapper: Mapper,
    languages: Mapping[str, Embeddings],
    dictionaries: Mapping[Pair, Dictionary],
    retrieval: Reranked,
    folds: int,
    seed: int,
) -> dict[Pair, Choices]:
    """Return the candidates of all words, each by a map that did not see it."""
    if not dictionaries:
        return {}
    fold_of = {pair: _folds(given, folds, seed) for pair, given in dictionaries.items()}
    parts: dict[Pair, list[Choices]] = {pair: [] for pair in dictionaries}
    for fold in progress.over("Learning to re-rank", range(folds), "folds"):
        kept, aside = (
            {
                pair: Dictionary(p for p in given if (fold_of[pair][p[0]] == fold) is wanted)
                for pair, given in dictionaries.items()
            }
            for wanted in (False, True)
        )
        given = kept if mapper.needs_dictionary else {}
        space = mapper.clone().fit(languages, given).map(languages)
        for pair, own in aside.items():
            parts[pair].append(_choices_of_fold(space, pair, own, retrieval))
    return {pair: Choices.joined(own) for pair, own in parts.items()}


def _folds(dictionary: Dictionary, folds: int, seed: int) -> dict[str, int]:
    """Divide the source words; all translations of a word fall into one fold."""
    words = sorted({source for source, _ in dictionary})
    numbers = np.random.default_rng(seed).permutation(len(words)) % folds
    return dict(zip(words, numbers.tolist(), strict=True))


def _choices_of_fold(
    space: SharedSpace, pair: Pair, dictionary: Dictionary, retrieval: Reranked
) -> Choices:
    """Return the candidates of some words, and which of them are correct."""
    source, target = pair
    words = list(dict.fromkeys(word for word, _ in dictionary))
    index = retrieval.index(space.unit_rows(source), space.unit_rows(target))
    candidates = index.candidates(space.queries(words, source))
    is_correct = _is_correct(candidates.columns, words, dictionary, space[target])
    ranks = np.array([space[source].row_of[word] + 1.0 for word in words])
    return Choices.of(candidates, is_correct, ranks)


def _is_correct(
    columns: RowIndices, words: list[str], dictionary: Dictionary, target: Embeddings
) -> Mask:
    number_of = {word: number for number, word in enumerate(words)}
    gold = [number_of[word] * len(target) + target.row_of[other] for word, other in dictionary]
    keys = np.arange(len(words))[:, None] * len(target) + columns
    is_correct: Mask = np.isin(keys, gold) & (columns >= 0)
    return is_correct
