"""[evaluate] The numbers behind the cells: systems fitted on a column's data, and scored there."""

from __future__ import annotations

from geomm_plugin.dictionary import Dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.evaluation.analogy import evaluate_analogies
from geomm_plugin.evaluation.one_hop import one_hop
from geomm_plugin.evaluation.paper.computed_rows import Score, Scores
from geomm_plugin.evaluation.paper.data import PaperData
from geomm_plugin.evaluation.paper.published import UNMAPPED, Column, PaperTable, System
from geomm_plugin.evaluation.similarity import evaluate_similarity
from geomm_plugin.evaluation.translation import evaluate
from geomm_plugin.registry import as_mapper
from geomm_plugin.shared_space import SharedSpace


def compute(
    paper: PaperTable,
    data: PaperData,
    columns: list[Column],
    systems: list[System],
    max_words: int | None,
) -> Scores:
    """Fit systems on the data of some columns, and score them on each."""
    if paper.kind == "one_hop":
        return _one_hops(data, columns, systems, max_words)
    loaded = _Loaded(data, columns, max_words)
    spaces: dict[str, SharedSpace] = {}
    scores: Scores = {}
    for system in systems:
        for column in columns:
            if system.mapper is None:
                continue
            key = system.name, column.name
            try:
                if system.mapper not in spaces:
                    spaces[system.mapper] = loaded.space(data.mapper(system.mapper))
                scores[key] = _score(paper.kind, data, column, system, spaces[system.mapper])
            except Exception as failure:  # whatever it raises, the other cells go on
                scores[key] = f"{type(failure).__name__}: {failure}"
    return scores


class _Loaded:
    """The embeddings and training dictionaries of some columns of one data set."""

    def __init__(self, data: PaperData, columns: list[Column], max_words: int | None):
        languages = dict.fromkeys(name for column in columns for name in column.languages)
        source = columns[0].data
        self.embeddings: dict[str, Embeddings] = {
            language: data.embeddings(source, language, max_words) for language in languages
        }
        self.train: dict[tuple[str, str], Dictionary] = {}
        for column in columns:
            pair = column.languages[0], column.languages[-1]
            self.train[pair] = data.dictionary(source, *pair, "train")

    def space(self, mapper: str) -> SharedSpace:
        """Return the space of a mapper, or the embeddings as they are."""
        if mapper == UNMAPPED:
            return SharedSpace(self.embeddings)
        return _fitted(mapper, self.embeddings, self.train)


def _score(kind: str, data: PaperData, column: Column, system: System, space: SharedSpace) -> float:
    source, target = column.languages
    if kind == "similarity":
        return evaluate_similarity(space, source, target, data.similarity(source, target)).scores[
            "pearson"
        ]
    if kind == "analogy":
        return 100 * evaluate_analogies(space, target, data.analogies())[0].scores["accuracy"]
    test = data.dictionary(column.data, source, target, "test")
    result = evaluate(space, source, target, test, system.retrieval, metrics=["p@1"])
    return 100 * result.scores["p@1"]


def _fitted(
    name: str, embeddings: dict[str, Embeddings], train: dict[tuple[str, str], Dictionary]
) -> SharedSpace:
    mapper = as_mapper(name)
    return mapper.fit(embeddings, train if mapper.needs_dictionary else {}).map(embeddings)


def _one_hops(
    data: PaperData, columns: list[Column], systems: list[System], max_words: int | None
) -> Scores:
    scores: Scores = {}
    for column in columns:
        source, pivot, target = column.languages
        embeddings = {n: data.embeddings(column.data, n, max_words) for n in column.languages}
        train = {
            pair: data.dictionary(column.data, *pair, "train")
            for pair in ((source, pivot), (pivot, target))
        }
        test = {(source, target): data.dictionary(column.data, source, target, "test")}
        for mapper in dict.fromkeys(s.mapper for s in systems if s.mapper):
            same = [system for system in systems if system.mapper == mapper]
            try:
                by_method = _by_method(data.mapper(mapper), embeddings, train, test, pivot)
            except Exception as failure:  # whatever it raises, the other cells go on
                by_method = {str(s.method): f"{type(failure).__name__}: {failure}" for s in same}
            for system in same:
                if system.method in by_method:
                    scores[system.name, column.name] = by_method[system.method]
    return scores


def _by_method(
    mapper: str,
    embeddings: dict[str, Embeddings],
    train: dict[tuple[str, str], Dictionary],
    test: dict[tuple[str, str], Dictionary],
    pivot: str,
) -> dict[str, Score]:
    """Return P@1 of every way to translate; a mapper without a dictionary needs no pivot."""
    if as_mapper(mapper).needs_dictionary:
        ways = one_hop(embeddings, train, test, mappers=mapper, pivot=pivot, disjoint=True).results
        return {way.method: 100 * way.scores["p@1"] for way in ways}
    ((source, target),) = test
    space = _fitted(mapper, {name: embeddings[name] for name in (source, target)}, {})
    result = evaluate(space, source, target, test[source, target], metrics=["p@1"])
    return {"direct": 100 * result.scores["p@1"]}
