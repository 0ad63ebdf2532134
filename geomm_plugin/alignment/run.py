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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from geomm_plugin import progress
from geomm_plugin.alignment.inputs import (
    Inputs,
    Words,
    collect_inputs,
    run_options,
    with_alike_words,
)
from geomm_plugin.alignment.reading import (
    Language,
    format_of,
    hash_of,
    hashes_of,
    read_language,
)
from geomm_plugin.alignment.record import (
    MAPPER,
    NAME,
    Content,
    Stage,
    content_of,
    fingerprint,
    fitted_mapper,
    read_record,
    still_whole,
)
from geomm_plugin.dictionary import Dictionaries
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import (
    FileError,
    FitError,
    GeommError,
    LanguagesError,
    ParameterError,
    did_you_mean,
)
from geomm_plugin.factorization import few_threads
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import as_file_error, check_writable, locked
from geomm_plugin.files.outputs import check_names, make_folders, refuse_inputs, refuse_losses
from geomm_plugin.files.stamps import Stamp, stamps
from geomm_plugin.fit_report import FitReport, report_of
from geomm_plugin.fitting.confirmation import doubt_of_fit
from geomm_plugin.fitting.reranking import learn_reranking
from geomm_plugin.formats import (
    Format,
    files_of,
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
from geomm_plugin.storage import CARD, is_saved, mapper_files, package_of, write_card
from geomm_plugin.work import Cluster, Job, Pool, compute_pool, job_count, process_pool

T = TypeVar("T")

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
        lines += self._narrowing()
        for language, path in self.paths.items():
            words, dimension = self.shapes.get(language, (0, 0))
            size = f"  {words:,} words x {dimension}" if language in self.shapes else ""
            lines.append(f"{'Kept' if language in self.kept else 'Wrote'} {path}{size}")
        if self.into is not None:
            lines.append(f"{self.into}: stays as it is; the others are in its coordinates")
        lines.append(f"{'Kept' if self.mapper_kept else 'Wrote'} {self.mapper_path}  {self.mapper}")
        return "\n".join(lines)

    def _narrowing(self) -> list[str]:
        """Say why the space has fewer dimensions than the vectors, if it has."""
        shapes = [matrix.shape for matrix in getattr(self.mapper, "matrices_", {}).values()]
        given, made = min((rows for rows, _ in shapes), default=0), max(shapes, default=(0, 0))[1]
        if made >= given or self.into is not None:
            return []
        pairs = min((counts.used for counts in self.report.pairs.values()), default=given)
        reason = f"{pairs} pairs span no more" if pairs < given else f"{self.mapper} keeps no more"
        return [f"{made} of {given} dimensions: {reason}"]


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
    force: bool = False,
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
    force
        Write the files, with a warning, though the fit failed: held-out words of a dictionary of at
        least 100 words are hardly nearer to their translations than chance. Otherwise that is a
        FitError, and nothing is written.
    jobs
        How many processes read and write at the same time; -1 is one for each core. The files are
        the same to the bit for any number.
    cluster
        The address of a Dask scheduler, or a Dask Client. Its workers must see the same files.
    """
    job_count(jobs)  # an impossible number is an error
    chosen = as_mapper(mapper, settings)
    identical, cognates, extra_words = list(identical), list(cognates), extra_words or {}
    if chosen.needs_dictionary and not (dictionaries or identical or cognates):
        raise ParameterError(NOTHING_TO_LEARN)
    output = Path(output)
    if into is not None:
        _check_into(into, files, extra_words, rerank, neighborhoods)
    names = {language: f"{language}{suffix}" for language in files if language != into}
    advice = "Choose another name for the language of that file, or another suffix."
    check_names([*names.values(), MAPPER, NAME, CARD], advice)
    first = output / next(iter(names.values()), suffix)
    written = (
        writing_format(first, precision)
        if format is None
        else find_format(first, format, to_write=True)
    )
    inputs = collect_inputs(files, dictionaries, identical, cognates, extra_words, max_words)
    form: dict[str, Any] = {
        "suffix": suffix,
        "precision": precision,
        "keep-length": keep_length,
        "into": into,
    }
    form |= {"rerank": rerank, "format": format, "force": force}
    if force and "on_failure" in chosen.get_params():
        chosen = chosen.clone().set_params(on_failure="warn")
    options = run_options(output, inputs, chosen, extra_words, form)
    _check_outputs(output, names.values(), written, inputs)
    make_folders(output)
    check_writable(output)
    with (
        locked(output, wait=False),
        as_file_error(output),
        process_pool(jobs, cluster) as pool,
        compute_pool(jobs or 1),
    ):
        form_of_rows = (keep_length or into is not None, into, rerank)
        run = _Run(inputs, output, names, options, chosen, written, *form_of_rows, force, pool)
        alignment = run.finish(resume)
        if neighborhoods:
            space = SharedSpace(read_languages(alignment.paths))
            space.save_neighborhoods(cluster=cluster)
        return alignment


@dataclass(frozen=True)
class _Run:
    """One run, with all that was asked for."""

    inputs: Inputs
    output: Path
    names: dict[str, str]  # of the aligned files, by language
    options: dict[str, Any] | None  # as they could be typed again
    mapper: Mapper
    written: Format
    keep_length: bool
    into: str | None
    rerank: bool
    force: bool
    pool: Pool

    def finish(self, resume: bool) -> Alignment:
        """Do what is not there yet, publish all of it together, and say what was done."""
        files = {language: files_of(path) for language, path in self.inputs.paths.items()}
        read = stamps(file for each in files.values() for file in each)
        self.pool.check_files(read)
        prints = self._fingerprints(files)
        with Stage.open(self.output, prints if resume else {}) as stage:
            before = read_record(self.output / NAME)
            present = still_whole(self.output, before["files"], prints if resume else {})
            kept_mapper = fitted_mapper(self.output, present)
            kept_mapper = kept_mapper or fitted_mapper(stage.new, stage.files)
            if kept_mapper is None:
                present = {}
                stage.keep_only(())
            done = present.keys() | stage.files.keys()
            needed = [language for language, name in self.names.items() if name not in done]
            if self.into is not None and (needed or kept_mapper is None):
                needed.append(self.into)
            try:
                languages = self._read(needed, stage)
            except (GeommError, OSError):
                _refuse_replaced(read)
                raise
            _refuse_replaced(read)
            mapper = kept_mapper or self._fit(languages, stage, prints[MAPPER])
            shapes = self._export(stage, prints, mapper, languages)
            if stage.files:
                stage.publish(present, self.options)
        write_card(self.output, mapper, self.names)
        return Alignment(
            paths={language: self.output / name for language, name in self.names.items()},
            written=tuple(shapes),
            kept=tuple(language for language in self.names if language not in shapes),
            mapper=mapper,
            mapper_path=self.output / MAPPER,
            mapper_kept=kept_mapper is not None,
            stale=self._stale(before, prints),
            shapes=shapes,
            into=self.into,
        )

    def _fingerprints(self, files: Mapping[str, list[Path]]) -> dict[str, str]:
        """Return the fingerprints of the mapper and of every file: of all that they depend on."""
        hashes = self.pool.in_order(
            Job(f"Hashing {language}", hashes_of, ([file.absolute() for file in each],))
            for language, each in files.items()
        )
        objects = {language: hash_of(given) for language, given in self.inputs.objects.items()}
        contents = dict(zip(files, hashes, strict=True)) | objects
        name, origin = self.mapper.name, package_of(self.mapper)
        fit = fingerprint(
            {
                "mapper": [name, origin, type(self.mapper).__qualname__, self.mapper.get_params()],
                "embeddings": contents,
                "dictionaries": sorted(self.inputs.pairs.items()),
                "identical": self.inputs.identical,
                "cognates": self.inputs.cognates,
                "rerank": self.rerank,
                "force": self.force,
                "max words": self.inputs.max_words,
            }
        )
        form = [self.written.name, {n: repr(value) for n, value in vars(self.written).items()}]
        rows = [self.keep_length, self.into]
        return {MAPPER: fit} | {
            name: fingerprint([fit, form, rows, self.inputs.extra_words.get(language, [])])
            for language, name in self.names.items()
        }

    def _read(self, languages: Iterable[str], stage: Stage) -> dict[str, Language]:
        """Read some languages: onto scratch files of the stage, if rows are all that is needed."""
        jobs = {}
        for number, name in enumerate(languages):
            given: Path | Embeddings | None = self.inputs.objects.get(name)
            needs_rows = self.pool.elsewhere and self.written.streams
            if given is None:
                given = self.inputs.paths[name]
                needs_rows = needs_rows or format_of(given, name).streams
                if self.pool.client:  # its workers are in another folder
                    given = given.absolute()
            place = stage.scratch(f"{number}.npy") if needs_rows else None
            extra = self.inputs.extra_words.get(name, [])
            call = (name, given, self.inputs.max_words, extra, place)
            is_here = place is None or isinstance(given, Embeddings)
            jobs[name] = Job(f"Reading {name}", read_language, call), is_here
        read = {}
        for name, (language, messages) in self._done(jobs):
            read[name] = language
            for message in messages:
                warnings.warn(message, stacklevel=2)
        return read

    def _fit(self, languages: Mapping[str, Language], stage: Stage, fingerprint: str) -> Mapper:
        """Fit the mapper, and put it on the stage."""
        inputs = self.inputs
        embeddings = {name: language.fitted for name, language in languages.items()}
        with progress.task(f"Fitting {self.mapper.name}", unit="pairs") as advance:
            dictionaries = with_alike_words(
                inputs.pairs, embeddings, inputs.identical, inputs.cognates
            )
            self.mapper.fit(embeddings, dictionaries)
            advance(sum(map(len, dictionaries.values())))
        if problem := doubt_of_fit(self.mapper, embeddings, dictionaries):
            if not self.force:
                raise FitError(f"{problem} Nothing was written; force=True writes it all the same.")
            warnings.warn(problem, stacklevel=4)
        if self.rerank:
            learn_reranking(self.mapper, embeddings, dictionaries)
        part = stage.part(len(self.names))
        disk.make_folder(part / MAPPER)
        for name, content in mapper_files(self.mapper).items():
            disk.write_file(part / MAPPER / name, content)
        disk.fsync_tree(part)
        stage.add(MAPPER, fingerprint, part, content_of(part))
        return self.mapper

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
        jobs, parts = {}, {}
        for number, (name, function) in enumerate(functions.items()):
            written, parts[name] = self.written.of_language(name), stage.part(number)
            path = parts[name] / self.names[name]
            call = (languages[name].exported, function, self.keep_length, written, path)
            is_here = not languages[name].is_on_disk
            jobs[name] = Job(f"Writing {path.name}", export_language, call), is_here
        shapes = {}
        for name, (content, shape) in self._done(jobs):
            shapes[name] = shape
            new = [self.output / file.name for file in parts[name].iterdir()]
            refuse_neighbors(self.output / self.names[name], new)
            refuse_inputs(new, self.inputs.files, ANOTHER_FOLDER)
            stage.add(self.names[name], prints[self.names[name]], parts[name], content)
        return shapes

    def _done(self, jobs: Mapping[str, tuple[Job[T], bool]]) -> Iterator[tuple[str, T]]:
        """Yield what jobs return, in order: by the pool, or here those that have to be."""
        results = self.pool.in_order(job for job, is_here in jobs.values() if not is_here)
        for name, (job, is_here) in jobs.items():
            yield name, job.function(*job.arguments) if is_here else next(results)

    def _stale(self, before: Mapping[str, Any], prints: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the files of an earlier run that stay, in another space; warn of them."""
        files, options = before["files"], before.get("options", {})
        is_same = files.get(MAPPER, {}).get("from") == prints[MAPPER]
        if is_same and options.get("into") == self.into:
            return ()
        places = (self.output / name for name in files if name not in prints)
        stale = sorted(place for place in places if place.parent == self.output and place.exists())
        if stale:
            warnings.warn(
                f"{', '.join(map(str, stale))}: written by an earlier run and left as it was, in "
                "another space; do not compare it with the new files.",
                stacklevel=4,
            )
        return tuple(stale)


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
    of_mapper = "Weights for the retrieval 'reranked' are learnt in the space of the mapper"
    for is_asked, problem in (
        (
            into in extra_words,
            f"{into} is not written, so it has no extra words, with into={into!r}.",
        ),
        (rerank, f"{of_mapper}, and with into={into!r} no file is written there."),
        (neighborhoods, f"With into={into!r} nothing is written beside the file of {into}."),
    ):
        if is_asked:
            raise ParameterError(f"{problem} Leave one of the two out.")


def _check_outputs(output: Path, names: Iterable[str], written: Format, inputs: Inputs) -> None:
    """Refuse outputs in whose place is something else, or that would be taken for it."""
    outputs = {name: written.outputs(output / name) for name in names}
    refuse_inputs([*chain(*outputs.values()), output / NAME], inputs.files, ANOTHER_FOLDER)
    for name in (*outputs, MAPPER):
        if (output / name).is_symlink():
            raise FileError(
                f"{output / name} is a link. Aligned files replace each other together, in one "
                "folder: remove the link, or choose another output folder."
            )
    for name, each in outputs.items():
        refuse_neighbors(output / name, each)
    refuse_losses(output / MAPPER, lambda name: is_saved(output / MAPPER / name))


def _refuse_replaced(before: Mapping[Path, Stamp | None]) -> None:
    if stamps(before) != before:
        raise FileError(
            f"One of {', '.join(map(str, before))} was replaced while it was in use. Wait for the "
            "run that writes it, and start this one again."
        )
