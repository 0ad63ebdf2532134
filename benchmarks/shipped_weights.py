"""Learn the weights that come with the package, for languages with a small dictionary or none.

    python benchmarks/shipped_weights.py en=en.vec es=es.vec it=it.vec -d en-es=train.txt \\
        -d en-it=train.txt --output shipped.json

For each dictionary `geomm_plus` is fitted to 100 of its pairs, and features learn from these and
from the pairs that the map induces, as they do where somebody has no more. 900 other source words
of the dictionary choose among their candidates: once as words are spelt (`alike`), once with each
target word spelt at random, the weights of letters at their fixed values (`different`).

The shipped weights were learnt in these steps on the training dictionaries of en-es and en-it, with
other random spellings. The parameters of the shipped probabilities are also of ru-fr, the words of
each pair scored by weights of another; here they are of the pairs that teach the weights.
`--without en-es` leaves one out, to measure on it what the others teach.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from geomm_plugin import Embeddings, Reranked, get_mapper
from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.fitting import reranking
from geomm_plugin.formats import read_languages
from geomm_plugin.registry.parameters import split_spec
from geomm_plugin.retrieval.rerank.learnt import Belief, Learnt
from geomm_plugin.retrieval.rerank.logit import SCALE, Choices, Weights, learn_weights
from geomm_plugin.shared_space import SharedSpace

SEEDS, WORDS = 100, 900
LETTERS = ("letters", "letters^0.5", "identical", "length", "learnt_letters")
FEATURES = tuple(name for name in reranking.FEATURES if name != "endings")


@click.command()
@click.argument("embeddings", nargs=-1, required=True, metavar="LANG=FILE...")
@click.option("-d", "--dictionary", multiple=True, required=True, help="A pair and its file.")
@click.option("--without", multiple=True, help="A pair that is left out.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="JSON.")
def command(
    embeddings: tuple[str, ...], dictionary: tuple[str, ...], without: tuple[str, ...], output: Path
) -> None:
    """Learn weights from dictionaries."""
    languages = read_languages(dict(spec.split("=", 1) for spec in embeddings))
    given = dict(split_spec(spec, "LANG-LANG=FILE") for spec in dictionary)
    parts: dict[bool, list[Choices]] = {False: [], True: []}
    for name in (name for name in given if name not in without):
        source, target = name.split("-")
        pairs = [
            pair
            for pair in read_dictionary(given[name])
            if pair[0] in languages[source] and pair[1] in languages[target]
        ]
        for at_random in parts:
            parts[at_random].append(_choices(languages, (source, target), pairs, at_random))
    fixed = Reranked(features=FEATURES).fixed_weights()
    alike, different = (Choices.joined(parts[at_random]) for at_random in parts)
    prior = np.array(list(fixed.values()))
    of_letters = np.isin(list(fixed), LETTERS)
    different.numbers[:, :, of_letters] = 0
    none = np.zeros(alike.table.shape[1])
    near = learn_weights(alike, Weights(SCALE, prior, none))
    far = learn_weights(different, Weights(SCALE, prior, none))
    far_numbers = np.where(of_letters, prior, far.numbers)
    shipped = {
        "fixed": Learnt(
            {name: weight for name, weight in fixed.items() if weight},
            belief=_belief(alike, Weights(SCALE, prior, none)),
        ),
        "alike": Learnt(_named(fixed, near.numbers), belief=_belief(alike, near)),
        "different": Learnt(_named(fixed, far_numbers)),
    }
    text = json.dumps({name: each.state()[0] for name, each in shipped.items()}, indent=1)
    output.write_text(text + "\n", "utf-8")


def _choices(
    languages: Mapping[str, Embeddings],
    pair: tuple[str, str],
    dictionary: list[tuple[str, str]],
    at_random: bool,
) -> Choices:
    """Return the candidates of words, by a map and features that know 100 pairs."""
    source, target = pair
    order = np.random.default_rng(1).permutation(len(dictionary))
    seeds = [dictionary[row] for row in order[:SEEDS].tolist()]
    others = sorted({word for word, _ in dictionary} - {word for word, _ in seeds})
    chosen = set(np.random.default_rng(2).permutation(others)[:WORDS].tolist())
    two = {language: languages[language] for language in pair}
    space = get_mapper("geomm_plus").fit(two, {pair: seeds}).map(two)
    spelt = {word: word for word in languages[target].words}
    if at_random:
        spelt = dict(zip(spelt, _random_words(list(spelt)), strict=True))
        vectors = {language: space.unit_vectors(language) for language in pair}
        space = SharedSpace(
            {
                source: Embeddings(languages[source].words, vectors[source]),
                target: Embeddings(list(spelt.values()), vectors[target]),
            }
        )
    known = [(word, spelt[other]) for word, other in seeds]
    retrieval = Reranked(features=FEATURES, weights="fixed")
    learnt = reranking._induced(space, pair, known, retrieval)
    index = reranking._index(space, pair, Reranked(features=FEATURES, weights=learnt))
    asked = Dictionary((word, spelt[other]) for word, other in dictionary if word in chosen)
    return reranking._choices_of_part(index, space, pair, asked)


def _random_words(words: list[str]) -> list[str]:
    generator, letters = np.random.default_rng(5), list("abcdefghijklmnopqrstuvwxyz")
    made = ["".join(generator.choice(letters, max(3, len(word)))) for word in words]
    seen: dict[str, int] = {}
    for row, word in enumerate(made):
        seen[word] = seen.get(word, -1) + 1
        made[row] = word + "x" * seen[word]
    return made


def _belief(choices: Choices, weights: Weights) -> Belief:
    return Belief.of(weights.scores(choices), choices.is_correct, choices.log_ranks)


def _named(names: Mapping[str, float], weights: np.ndarray) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


if __name__ == "__main__":
    command()
