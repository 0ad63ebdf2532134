"""Aligned files from files: convert, fit, export.

    OUT/.unfinished/              the stage: whole files, and record.json: what each was made from
      1 read     LANG  ->  scratch/LANG.npy, mapped into memory, and its words   one job a language
      2 fit            ->  mapper/
      3 export   LANG  ->  LANG.vec                                              one job a language
      4 publish        rename into OUT, align.json last; remove the stage
    resume: what OUT/align.json or record.json name as made from the same content, mapper and
    options is kept

All of it, or nothing: the files of a run appear together when the last of them is whole.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geomm_plugin import progress
from geomm_plugin.alignment.inputs import Inputs, Words, collect_inputs
from geomm_plugin.alignment.reading import Language, Reading, on_disk
from geomm_plugin.alignment.record import (
    MAPPER,
    NAME,
    Content,
    Record,
    Stage,
    content_of,
    fingerprint_of_file,
    fingerprint_of_fit,
    read_record,
    run_options,
)
from geomm_plugin.dictionary import Dictionaries
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, LanguagesError, ParameterError, did_you_mean
from geomm_plugin.factorization import few_threads
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import as_file_error, check_writable, locked
from geomm_plugin.files.outputs import check_names, make_folders, refuse_inputs, refuse_losses
from geomm_plugin.fit_report import FitReport, report_of
from geomm_plugin.fitting.reranking import learn_reranking
from geomm_plugin.formats import (
    Format,
    find_format,
    read_languages,
    refuse_neighbors,
    writing_format,
)
from geomm_plugin.mapper import LanguageMap, LinearMapper, Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.rows import RowFunction
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import is_saved_name, mapper_files
from geomm_plugin.work import Cluster, Job, Pool, compute_pool, job_count, process_pool

ANOTHER_FOLDER = "Choose another output folder."
NOTHING_TO_LEARN = (
    "There is nothing to learn from. Give dictionaries, or pairs of languages as `identical` to "
    "take words that are spelt alike, or choose a mapper that needs no dictionary: geomm_unsup."
)


@dataclass(frozen=True)
class Alignment:
    """What align() made: `paths["es"]` is a file in the space of `mapper`.

    Parameters
    ----------
    paths
        The aligned file of each language.
    written, kept
        The languages whose files this run wrote, and those that were there already.
    mapper_path
        The folder of the saved mapper.
    mapper_kept
        Whether the mapper was fitted by an earlier run.
    stale
        Files of earlier runs that stay in the folder, in the space of another mapper.
    shapes
        Words and dimension of each file that this run wrote.
    into
        The language that stays as it is, if there is one. It has no path here.
    """

    paths: dict[str, Path]
    written: tuple[str, ...]
    kept: tuple[str, ...]
    mapper: Mapper
    mapper_path: Path
    mapper_kept: bool
    stale: tuple[Path, ...]
    shapes: dict[str, tuple[int, int]]
    into: str | None = None

    @property
    def report(self) -> FitReport:
        """How the fit went: what the mapper reports."""
        return report_of(self.mapper)

    def __str__(self) -> str:
        lines = [f"{pair}: {counts}" for pair, counts in self.report.pairs.items()]
        for pair, seed in self.report.seeds.items():
            shares = {"recover": self.report.recover, "witnessed": self.report.witnessed}
            told = [f"; {name} {by[pair]:.2f}" for name, by in shares.items() if pair in by]
            lines.append(f"{pair}: started from {seed}{''.join(told)}")
        for pair, choice in self.report.regularization.items():
            scores = ", ".join(f"{k:g}: {v:.3f}" for k, v in choice.scores.items())
            tried = f" (held-out P@1 {scores})" if scores else ""
            lines.append(f"{pair}: regularization {choice.value:g}{tried}")
        for language, path in self.paths.items():
            words, dimension = self.shapes.get(language, (0, 0))
            size = f"  {words:,} words x {dimension}" if language in self.shapes else ""
            lines.append(f"{'Kept' if language in self.kept else 'Wrote'} {path}{size}")
        if self.into is not None:
            lines.append(f"{self.into}: stays as it is; the others are in its coordinates")
        lines.append(
            f"{'Kept' if self.mapper_kept else 'Wrote'} {self.mapper_path}  {self.mapper!r}"
        )
        return "\n".join(lines)


def align(
    files: Mapping[str, object],
    dictionaries: Dictionaries,
    mapper: str | Mapper = "geomm",
    *,
    output: str | Path,
    identical: Iterable[tuple[str, str]] = (),
    cognates: Iterable[tuple[str, str]] = (),
    settings: Iterable[str] = (),
    max_words: int | None = None,
    suffix: str = ".vec",
    format: str | Format | None = None,
    precision: int | None = None,
    extra_words: Mapping[str, Words] | None = None,
    keep_length: bool = False,
    into: str | None = None,
    rerank: bool = False,
    neighborhoods: bool = False,
    resume: bool = False,
    jobs: int | None = None,
    cluster: Cluster | None = None,
) -> Alignment:
    """Fit a mapper and write every language into the shared space: all of `geomm align`.

    The folder gets `<language>.vec` for each language, at unit length, the fitted mapper in
    `mapper/`, and a record of both, `align.json`. The files appear together at the end; what was
    there by the same names stays until then. Files and folders are on the disk when it returns.

    Parameters
    ----------
    files
        By language: a path, or whatever holds words and vectors (Embeddings, KeyedVectors, ...).
    dictionaries
        By pair of languages: a path, or pairs of words; {} for mappers that need no dictionary.
    mapper
        A name, a name with parameters as in "geomm:regularization=100", or a mapper.
    output
        The folder; it is made if it is not there.
    identical
        Pairs of languages whose words that are spelt alike are taken as a dictionary, too.
    cognates
        Pairs of languages whose words that are nearly spelt alike are taken as a dictionary, too.
    settings
        Further parameters of a mapper that is given by name: texts PARAMETER=VALUE.
    max_words
        How many words of each language are read, mapped and written.
    suffix, format, precision
        The form of the aligned files: what they end in; a format other than the suffix says; digits
        behind the point in text.
    extra_words
        By language: words (or a file of them, one a line) that are exported, too, with vectors from
        subwords.
    keep_length
        Whether vectors keep the length that the mapper gives them.
    into
        A language that stays as it is: the others are written in the coordinates, and about at the
        length, of its own vectors, and compared with the file that was given for it. That is not
        written.
    rerank
        Whether to learn weights for the retrieval "reranked", which the mapper then carries.
    neighborhoods
        Whether to save what CSLS compares beside the files, too, once they are there:
        SharedSpace.save_neighborhoods(). It compares all words of every two languages.
    resume
        Keep what an earlier run wrote into the folder, or had ready when it was stopped, if it is
        from the same mapper, content of inputs and options.
    jobs
        How many processes read and write at the same time; -1 is one for each core. The files are
        the same to the bit for any number.
    cluster
        The address of a Dask scheduler, or a Dask Client. Its workers must see the same files.
    """
    job_count(jobs)  # an impossible number is an error
    chosen = as_mapper(mapper, settings)
    identical, cognates = list(identical), list(cognates)
    if chosen.needs_dictionary and not (dictionaries or identical or cognates):
        raise ParameterError(NOTHING_TO_LEARN)
    output = Path(output)
    if into is not None:
        _check_into(into, files, extra_words or {}, rerank, neighborhoods)
    names = file_names([language for language in files if language != into], suffix)
    first = output / next(iter(names.values()), suffix)
    written = (
        writing_format(first, precision)
        if format is None
        else find_format(first, format, to_write=True)
    )
    inputs = collect_inputs(files, dictionaries, identical, cognates, extra_words or {}, max_words)
    form = {"suffix": suffix, "precision": precision, "keep-length": keep_length, "into": into}
    form["rerank"] = rerank
    options = run_options(output, inputs, chosen, extra_words or {}, form | {"format": format})
    outputs = [file for name in names.values() for file in written.outputs(output / name)]
    refuse_inputs([*outputs, output / NAME], inputs.files, ANOTHER_FOLDER)
    _refuse_links(output, [*names.values(), MAPPER])
    for name in names.values():
        refuse_neighbors(output / name, written.outputs(output / name))
    refuse_losses(output / MAPPER, is_saved_name)
    make_folders(output)
    check_writable(output)
    with (
        locked(output, wait=False),
        as_file_error(output),
        process_pool(jobs, cluster) as pool,
        compute_pool(jobs or 1),
    ):
        form_of_rows = (keep_length or into is not None, into, rerank)
        run = _Run(inputs, output, names, options, chosen, written, *form_of_rows, pool)
        alignment = run.finish(resume)
        if neighborhoods:
            space = SharedSpace(read_languages(alignment.paths))
            space.save_neighborhoods(cluster=cluster)
        return alignment


def file_names(languages: Iterable[str], suffix: str) -> dict[str, str]:
    """Return what the aligned file of each language is called; odd names are refused."""
    names = {language: f"{language}{suffix}" for language in languages}
    advice = "Choose another name for the language of that file, or another suffix."
    check_names([*names.values(), MAPPER, NAME], advice)
    return names


@dataclass
class _Run:
    """One run, with all that was asked for."""

    inputs: Inputs
    output: Path
    names: dict[str, str]
    options: dict[str, Any] | None  # as they could be typed again
    mapper: Mapper
    written: Format
    keep_length: bool
    into: str | None
    rerank: bool
    pool: Pool

    def finish(self, resume: bool) -> Alignment:
        """Do what is not there yet, publish all of it together, and say what was done."""
        reading = Reading(self.inputs, self.written, self.pool)
        prints = self._fingerprints(reading) if resume else {}
        with Stage.open(self.output, prints, resume) as stage:
            before = read_record(self.output / NAME, self.output)
            present = before.matching(prints)
            fitted = self._fitted(prints, present, stage.record)
            if fitted is None:
                present = Record(self.output)
                stage.keep_only(())
            done = present.files.keys() | stage.record.files.keys()
            kept = [language for language, name in self.names.items() if name in done]
            needed = [language for language in self.names if language not in kept]
            if self.into is not None and (needed or fitted is None):
                needed.append(self.into)
            languages = reading.read(needed, stage)
            mapper = self._fit(languages) if fitted is None else fitted
            prints = prints or self._fingerprints(reading)
            if fitted is None:
                self._add_mapper(stage, prints[MAPPER])
            shapes = self._export(stage, prints, mapper, languages)
            if stage.record.files:
                stage.publish(present, self.options)
        return Alignment(
            paths={language: self.output / name for language, name in self.names.items()},
            written=tuple(shapes),
            kept=tuple(kept),
            mapper=mapper,
            mapper_path=self.output / MAPPER,
            mapper_kept=fitted is not None,
            stale=_stale(before, prints, self.into),
            shapes=shapes,
            into=self.into,
        )

    def _fitted(self, prints: Mapping[str, str], present: Record, staged: Record) -> Mapper | None:
        """Return the mapper that an earlier run fitted, if it is what this one would fit."""
        if MAPPER not in prints:
            return None
        return present.mapper(prints[MAPPER]) or staged.mapper(prints[MAPPER])

    def _fingerprints(self, reading: Reading) -> dict[str, str]:
        """Return the fingerprints of the mapper and of every file."""
        fit = fingerprint_of_fit(self.mapper, self.inputs, reading.hashes(), self.rerank)
        return {MAPPER: fit} | {
            name: fingerprint_of_file(
                fit,
                self.written,
                [self.keep_length, self.into],
                self.inputs.extra_words.get(language, []),
            )
            for language, name in self.names.items()
        }

    def _fit(self, languages: Mapping[str, Language]) -> Mapper:
        embeddings = {name: language.fitted for name, language in languages.items()}
        with progress.task(f"Fitting {self.mapper.name}", unit="pairs") as advance:
            dictionaries = self.inputs.dictionaries(embeddings)
            self.mapper.fit(embeddings, dictionaries)
            advance(sum(map(len, dictionaries.values())))
        if self.rerank:
            learn_reranking(self.mapper, embeddings, dictionaries)
        return self.mapper

    def _add_mapper(self, stage: Stage, fingerprint: str) -> None:
        part = stage.part(len(self.names))
        disk.make_folder(part / MAPPER)
        for name, content in mapper_files(self.mapper).items():
            disk.write_file(part / MAPPER / name, content)
        disk.fsync_tree(part)
        stage.add(MAPPER, fingerprint, part, content_of(part))

    def _export(
        self,
        stage: Stage,
        prints: Mapping[str, str],
        mapper: Mapper,
        languages: Mapping[str, Language],
    ) -> dict[str, tuple[int, int]]:
        """Write the aligned files of some languages, and return their words and dimensions."""
        functions: Mapping[str, RowFunction] = {
            name: LanguageMap(_of_language(mapper, name), name) for name in languages
        }
        if self.into is not None and languages:
            fitted = {name: language.fitted for name, language in languages.items()}
            functions = mapper.maps_into(self.into, fitted)
        parts, jobs = {}, {}
        for number, (name, function) in enumerate(functions.items()):
            language = languages[name]
            embeddings, written = language.exported, self.written.of_language(name)
            is_here = not language.is_on_disk
            if is_here and self.pool.elsewhere and written.streams:
                embeddings = on_disk(embeddings, stage.scratch(f"object-{number}.npy"))
                is_here = False
            parts[name] = stage.part(number) / self.names[name]
            call = (embeddings, function, self.keep_length, written, parts[name])
            jobs[name] = Job(f"Writing {self.names[name]}", export_language, call), is_here
        results = self.pool.in_order(job for job, is_here in jobs.values() if not is_here)
        shapes = {}
        for name, (job, is_here) in jobs.items():
            path = parts[name]
            content, shapes[name] = job.function(*job.arguments) if is_here else next(results)
            new = [self.output / file.name for file in path.parent.iterdir()]
            refuse_neighbors(self.output / path.name, new)
            refuse_inputs(new, self.inputs.files, ANOTHER_FOLDER)
            stage.add(path.name, prints[path.name], path.parent, content)
        return shapes


def export_language(
    embeddings: Embeddings,
    function: RowFunction,
    keep_length: bool,
    written: Format,
    path: Path,
) -> tuple[Content, tuple[int, int]]:
    """Write a language, mapped, to the disk; return the sizes and hashes of its files."""
    mapped = embeddings.map(function)
    if not keep_length:
        mapped = mapped.map(unit)
    with few_threads():  # others would spin while blocks are written
        written.write(path, mapped)
    if not path.exists():
        raise FileError(f"Cannot write {path.name}: the format wrote nothing of that name.")
    disk.fsync_tree(path.parent)
    return content_of(path.parent), (len(mapped), mapped.dimension)


def _of_language(mapper: Mapper, language: str) -> Mapper:
    """Return a mapper with what it learnt of one language only, where it is known what that is.

    It is sent along with every job, and there may be hundreds of languages.
    """
    if not isinstance(mapper, LinearMapper) or type(mapper).transform is not LinearMapper.transform:
        return mapper
    one = copy.copy(mapper)
    one.matrices_ = {language: mapper.matrices_[language]}
    one.normalizer_ = mapper.normalizer_.only(language)
    one.report_, one.reranking_ = FitReport(), {}
    return one


def _check_into(
    into: str,
    languages: Iterable[str],
    extra_words: Iterable[str],
    rerank: bool,
    neighborhoods: bool,
) -> None:
    """Refuse what cannot be asked for together with a language that stays as it is."""
    languages = list(languages)
    if into not in languages:
        raise LanguagesError(
            f"There is no language {into!r} to move the others into.{did_you_mean(into, languages)}"
            f" There are {', '.join(languages)}."
        )
    if into in extra_words:
        raise ParameterError(
            f"The vectors of {into} stay as they are, so no extra words of it are written. Leave "
            f"them out, or leave out into={into!r}."
        )
    if rerank:
        raise ParameterError(
            f"Weights for the retrieval 'reranked' are learnt in the space of the mapper, and with "
            f"into={into!r} no file is written there. Leave one of the two out."
        )
    if neighborhoods:
        raise ParameterError(
            f"With into={into!r} nothing is written beside the file of {into}. Save neighborhoods "
            "afterwards: `geomm neighborhoods` does it for all files that it is given."
        )


def _refuse_links(output: Path, names: Iterable[str]) -> None:
    """Refuse links among the files to replace: what replaces them together lies in one folder."""
    for name in names:
        if (output / name).is_symlink():
            raise FileError(
                f"{output / name} is a link. Aligned files replace each other together, in one "
                "folder: remove the link, or choose another output folder."
            )


def _stale(before: Record, prints: Mapping[str, str], into: str | None) -> tuple[Path, ...]:
    """Return the files of an earlier run that stay, in another space; warn of them."""
    is_same = before.files.get(MAPPER, {}).get("from") == prints[MAPPER]
    if is_same and (before.options or {}).get("into") == into:
        return ()
    places = (before.folder / name for name in before.files if name not in prints)
    stale = sorted(place for place in places if place.parent == before.folder and place.exists())
    if stale:
        warnings.warn(
            f"{', '.join(map(str, stale))}: written by an earlier run and left as it was, in "
            "another space; do not compare it with the new files.",
            stacklevel=4,
        )
    return tuple(stale)
