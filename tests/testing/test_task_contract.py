"""Every registered task keeps the contract, and the contract sees what is broken."""

from dataclasses import dataclass

import numpy as np
import pytest

from geomm_plugin import get_mapper, registry
from geomm_plugin.evaluation.analogy import Analogy
from geomm_plugin.evaluation.similarity import Similarity
from geomm_plugin.evaluation.task import Score, Task
from geomm_plugin.evaluation.texts import Classify, LabelledTexts, Sentences
from geomm_plugin.evaluation.translation import Translation
from geomm_plugin.testing import check_task

WORDS = 800
LINES = 120


@pytest.fixture(scope="module")
def space(demo):
    few = {language: value.head(WORDS) for language, value in demo.embeddings.items()}
    return get_mapper("procrustes").fit(few, demo.train).map(few)


@pytest.fixture(scope="module")
def tasks(demo):
    pairs = {pair: [(a, b, float(n % 5)) for n, (a, b) in enumerate(demo.test[pair])]
             for pair in demo.test}  # fmt: skip
    words = [("country", "countries"), ("report", "reports"), ("year", "years")]
    plurals = {"plurals": [(*one, *other) for one in words for other in words if one != other]}
    topics = {
        language: LabelledTexts(texts.labels[:LINES], texts.texts[:LINES])
        for language, texts in demo.topics.items()
    }
    made = [
        Translation(demo.test, ["csls", "cosine"], by="spelling"),
        Similarity(pairs),
        Analogy({"en": plurals}),
        Sentences({language: lines[:LINES] for language, lines in demo.sentences.items()}),
        Classify({"en": demo.topics["en"]}, topics, C=3.0),
    ]
    return {task.name: task for task in made}


@pytest.mark.parametrize("name", ["bli", "similarity", "analogy", "sentences", "classify"])
def test_every_built_in_task_keeps_the_contract(name, tasks, space):
    check_task(tasks[name], space)


def test_no_registered_task_is_left_out(tasks):
    assert set(tasks) == set(registry.tasks)
    assert all(registry.tasks[name] is type(task) for name, task in tasks.items())


@dataclass
class Broken(Task):
    """A task of which one part is broken."""

    name = "broken"
    part: str = ""
    calls: int = 0

    @classmethod
    def from_files(cls, files, retrievals=()):
        return cls()

    def score(self, space):
        self.calls += 1
        languages = list(space)
        if self.part == "order" and space["en"].dimension == 5:
            languages.reverse()
        items = np.array([0.0, 1.0])
        mean = 0.7 if self.part == "mean" else 0.5
        mean = 1 / self.calls if self.part == "luck" else mean
        name = "other" if self.part == "name" else self.name
        about = {} if self.part == "about" else {"language": None}
        return [
            Score(name, about | ({"language": n} if about else {}), {"x": mean},
                  None if self.part == "luck" else items)
            for n in languages
        ]  # fmt: skip

    def among(self, languages):
        return self if languages or self.part == "among" else None


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("mean", "The items' mean, 0.5, is x, 0.7"),
        ("order", "in the same order"),
        ("luck", "The same space gets the same scores"),
        ("name", "A Score of broken"),
        ("about", "about something else"),
        ("among", "for no language"),
    ],
)
def test_what_is_broken_is_named(part, message, space):
    check_task(Broken(), space)
    with pytest.raises(AssertionError, match=message):
        check_task(Broken(part), space)
