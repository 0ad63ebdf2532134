"""What spaces are scored on: the options of `evaluate` and `compare`, and the tasks they give."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation import Task, Translation
from geomm_plugin.evaluation.task import WordTask
from geomm_plugin.evaluation.translation import By, UnknownWords
from geomm_plugin.registry.parameters import split_spec, split_specs
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.source_file import SourceFile

OF_WORDS = ("test", "retrieval", "metric", "by", "oov", "encoding")  # that translation uses
OF_TEXTS = ("texts", "train")


@dataclass(frozen=True)
class Scoring:
    """How words are scored, and the files of tasks, LANG=FILE or LANG-LANG=FILE."""

    test: tuple[str, ...]
    texts: tuple[str, ...]
    train: tuple[str, ...]
    retrieval: tuple[str, ...]
    metric: tuple[str, ...]
    by: By | None
    oov: UnknownWords
    encoding: str | None = None

    def check(self, tasks: Sequence[type[Task]]) -> None:
        """Refuse options that no task looks at."""
        used = {role for task in tasks for role in task.roles}
        if Translation in tasks:
            used |= {*OF_WORDS}
        if any(task.ranks for task in tasks):
            used.add("retrieval")
        named = [task for task in tasks if task is not Translation] or tasks
        shown = " ".join(f"--task {task.name}" for task in named)
        for name in (*OF_WORDS, *OF_TEXTS):
            if getattr(self, name) and options.was_typed(name) and name not in used:
                raise ParameterError(f"--{name} is not for {shown}. Leave it out.")

    def needed(self, task: type[Task], languages: Collection[str] = ()) -> Scoring:
        """Return this, if it has the files that a task is made from."""
        for role in task.roles:
            if not getattr(self, role):
                known = f" Languages are {', '.join(languages)}." if languages else ""
                raise ParameterError(f"--task {task.name} needs --{role} {_form(task)}.{known}")
        return self

    def of_each(
        self, tasks: Sequence[type[Task]], languages: Collection[str]
    ) -> dict[type[Task], Scoring]:
        """Give --test LANG-LANG=FILE to the task of pairs, LANG=FILE to the other that reads it."""
        readers = [task for task in tasks if "test" in task.roles]
        for one, other in combinations(readers, 2):
            if one.of_pairs is other.of_pairs:
                raise ParameterError(
                    f"--test {_form(one)} is for one task at a time, and --task {one.name} and "
                    f"--task {other.name} both read it. Run the command once for each of them."
                )
        names = () if all(task.of_pairs for task in readers) else languages
        each = {}
        for task in tasks:
            own = [t for t in self.test if (t.partition("=")[0] not in names) is task.of_pairs]
            if task is not Translation:
                split_specs(own, _form(task))  # two files of one name would be one row twice
            each[task] = replace(self, test=tuple(own)).needed(task, languages)
        return each

    def make(
        self, task: type[Task], retrievals: Sequence[Retrieval], languages: Collection[str]
    ) -> list[Task]:
        """Read a task from its files; one of words for each file, since a pair may have several.

        Parameters
        ----------
        retrievals
            Passed on only if they were chosen; a task has its own choice.
        """
        chosen = () if options.is_default("retrieval") else retrievals
        if not issubclass(task, WordTask):
            names = {role: split_specs(getattr(self, role), forms.FILES) for role in task.roles}
            return [task.from_files(names, chosen)]
        settings: dict[str, Any] = {"retrievals": chosen} if task.ranks and chosen else {}
        if task is Translation:
            settings |= self.of_words()
            read = options.read_each(self.test, languages)
            return [task({pair: own}, **settings) for pair, own in read]
        tests = [split_spec(spec, forms.DICTIONARIES) for spec in self.test]
        key_of = (lambda name: forms.language_pair(name, languages)) if task.of_pairs else str
        return [task({key_of(name): task.read(path)}, **settings) for name, path in tests]

    def of_words(self) -> dict[str, Any]:
        """Return how translations are scored, as parameters."""
        return {"metrics": self.metric or None, "oov": self.oov, "by": self.by}

    def files(self, task: type[Task]) -> Iterator[tuple[str, SourceFile]]:
        """Yield the files of a task, each with what it was for: "texts en", "test es"."""
        for role in task.roles:
            for name, _, path in (spec.partition("=") for spec in getattr(self, role)):
                yield f"{role} {name}", SourceFile.read_from(Path(path), role)


def _form(task: type[Task]) -> str:
    return "LANG-LANG=FILE" if task.of_pairs else "LANG=FILE"


def scoring_options(
    test: str, *others: options.Decorator, envvar: str | None = None
) -> options.Decorator:
    """Add how spaces are scored, and on what (--test by its names here), as `scoring`."""
    return options.as_group(
        "scoring",
        Scoring,
        options.several(
            test,
            "Test dictionary of a pair of languages; scored word pairs for similarity; LANG=FILE "
            "with questions for analogy, or with label<TAB>text for classify.",
            type=forms.PAIR_FILE,
            envvar=envvar,
        ),
        *others,
        options.several(
            "--texts",
            "For sentences: one sentence a line, the same one in each file.",
            type=forms.LANG_FILE,
        ),
        options.several(
            "--train",
            "For classify: label<TAB>text, one a line, to learn from.",
            type=forms.LANG_FILE,
        ),
        options.several("--retrieval -r", options.RANKED, default=("csls",), type=forms.RETRIEVAL),
        options.several(
            "--metric",
            "e.g. p@1; by default all. Without mrr large vocabularies take less time.",
            type=forms.METRIC,
        ),
        options.option(
            "--by",
            "Show P@1 of groups of words, too: of identical, cognate and different spelling; by "
            "frequency; by number of translations.",
            type=click.Choice(["spelling", "frequency", "translations"]),
        ),
        options.option(
            "--oov",
            "Test words outside the vocabularies: leave them out, or count them as errors.",
            type=click.Choice(["skip", "wrong"]),
            default="skip",
        ),
    )
