"""The jobs that are measured: each prepares, and returns the function whose cost counts.

    python benchmarks/jobs.py read ours FOLDER 25000 300

runs one of them in a process of its own and prints its CPU seconds, wall seconds and peak memory as
JSON. Other libraries are imported where they are used.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from languages import SOURCE, TARGET, dictionary_path, test_rows, vectors_path

from geomm_plugin import (
    CSLS,
    Embeddings,
    get_mapper,
    read_dictionary,
    read_embeddings,
    write_embeddings,
)
from geomm_plugin.arrays import Matrix
from geomm_plugin.normalize import unit

Work = Callable[[], object]


@dataclass(frozen=True)
class Setting:
    """Where the data are, and how large."""

    folder: Path
    words: int
    dimension: int

    def path(self, language: str = SOURCE) -> Path:
        """The `.vec` file of a language."""
        return vectors_path(self.folder, language, self.words, self.dimension)

    def output(self, name: str) -> Path:
        """A file that is written and thrown away."""
        return self.folder / "output" / f"{self.words}x{self.dimension}.{name}"

    def dictionary(self) -> list[tuple[str, str]]:
        """The training pairs."""
        return list(read_dictionary(dictionary_path(self.folder, self.words)))

    def both(self) -> dict[str, Embeddings]:
        """Both languages; read from memory-mapped files, made once."""
        return {language: read_embeddings(self.mapped(language)) for language in (SOURCE, TARGET)}

    def mapped(self, language: str = SOURCE) -> Path:
        """The `.safetensors` file of a language."""
        path = self.path(language).with_suffix(".safetensors")
        if not path.exists():
            write_embeddings(read_embeddings(self.path(language)), path)
        return path


def read_ours(at: Setting) -> Work:
    """read_embeddings of a .vec file."""
    path = at.path()
    return lambda: read_embeddings(path)


def read_gensim(at: Setting) -> Work:
    """KeyedVectors.load_word2vec_format."""
    from gensim.models import KeyedVectors

    path = at.path()
    return lambda: KeyedVectors.load_word2vec_format(path)


def read_numpy(at: Setting) -> Work:
    """A loop over lines, np.array of the split text: what research code does."""
    path = at.path()

    def work() -> object:
        with path.open(encoding="utf-8") as file:
            next(file)
            lines = (line.rstrip().split(" ") for line in file)
            return [(line[0], np.array(line[1:], np.float32)) for line in lines]

    return work


def read_again_ours(at: Setting) -> Work:
    """read_embeddings of a .safetensors file, and a pass over all vectors."""
    path = at.mapped()
    return lambda: read_embeddings(path).vectors.sum()


def read_again_gensim(at: Setting) -> Work:
    """KeyedVectors.load with mmap, and a pass over all vectors."""
    from gensim.models import KeyedVectors

    path = str(at.output("kv"))
    _keyed_vectors(read_embeddings(at.mapped())).save(path, separately=["vectors"])
    return lambda: KeyedVectors.load(path, mmap="r").vectors.sum()


def write_ours(at: Setting) -> Work:
    """write_embeddings to a .vec file."""
    embeddings = at.both()[SOURCE]
    return lambda: write_embeddings(embeddings, at.output("vec"))


def write_gensim(at: Setting) -> Work:
    """KeyedVectors.save_word2vec_format."""
    vectors = _keyed_vectors(at.both()[SOURCE])
    return lambda: vectors.save_word2vec_format(at.output("vec"))


def fit_ours(at: Setting) -> Work:
    """GeoMM in closed form."""
    mapper = get_mapper("geomm", regularization=100.0)
    embeddings, pairs = at.both(), {(SOURCE, TARGET): at.dictionary()}
    return lambda: mapper.fit(embeddings, pairs)


def fit_chosen_ours(at: Setting) -> Work:
    """GeoMM in closed form, with lambda chosen on held-out words."""
    mapper = get_mapper("geomm")
    embeddings, pairs = at.both(), {(SOURCE, TARGET): at.dictionary()}
    return lambda: mapper.fit(embeddings, pairs)


def fit_pymanopt(at: Setting) -> Work:
    """GeoMM by conjugate gradient on the manifold, as in the paper."""
    mapper = get_mapper("geomm", regularization=100.0, solver="riemannian")
    embeddings, pairs = at.both(), {(SOURCE, TARGET): at.dictionary()}
    return lambda: mapper.fit(embeddings, pairs)


def map_ours(at: Setting) -> Work:
    """Mapper.map: normalized, mapped, unit length, block by block."""
    embeddings = at.both()
    mapper = get_mapper("geomm", regularization=100.0)
    mapper.fit(embeddings, {(SOURCE, TARGET): at.dictionary()})

    def work() -> None:
        for block in mapper.map(embeddings)[SOURCE].blocks():
            unit(block)

    return work


def map_numpy(at: Setting) -> Work:
    """The same in one go, in four lines of numpy."""
    vectors = at.both()[SOURCE].vectors
    matrix = np.linalg.qr(np.random.default_rng(0).standard_normal((at.dimension,) * 2))[0]
    matrix = matrix.astype(np.float32)

    def work() -> Matrix:
        x = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        x = (x - x.mean(axis=0)) @ matrix
        mapped: Matrix = x / np.linalg.norm(x, axis=1, keepdims=True)
        return mapped

    return work


def csls_ours(at: Setting) -> Work:
    """CSLS of test words over both whole vocabularies, exact."""
    source, target, queries = _unit_vectors(at)
    return lambda: CSLS().index(source, target).search(queries, 10)


def csls_numpy(at: Setting) -> Work:
    """CSLS by all products of both vocabularies, 1,024 rows at a time."""
    source, target, queries = _unit_vectors(at)

    def mean_of_nearest(rows: Matrix, others: Matrix) -> Matrix:
        means = []
        for start in range(0, len(rows), 1024):
            scores = rows[start : start + 1024] @ others.T
            scores.partition(scores.shape[1] - 10, axis=1)
            means.append(scores[:, -10:].mean(axis=1))
        return np.concatenate(means)

    def work() -> Matrix:
        scores = 2 * queries @ target.T - mean_of_nearest(target, source)
        best: Matrix = np.argsort(-scores, axis=1)[:, :10]
        return best

    return work


def csls_faiss(at: Setting) -> Work:
    """CSLS with faiss's exact index for the neighborhoods."""
    import faiss

    source, target, queries = _unit_vectors(at)

    def work() -> Matrix:
        index = faiss.IndexFlatIP(at.dimension)
        index.add(source)
        means = index.search(target, 10)[0].mean(axis=1)
        best: Matrix = np.argsort(-(2 * queries @ target.T - means), axis=1)[:, :10]
        return best

    return work


def align_ours(at: Setting) -> Work:
    """`geomm align` on two .vec files, in a process of its own: imports, lambda and all."""
    files = [f"{language}={at.path(language)}" for language in (SOURCE, TARGET)]
    pair = f"{SOURCE}-{TARGET}={dictionary_path(at.folder, at.words)}"
    options = ["--dictionary", pair, "--output", str(at.output("aligned"))]
    command = [sys.executable, "-m", "geomm_plugin", "align", *files, *options, "--quiet"]
    return lambda: subprocess.run(command, check=True)


def align_gensim(at: Setting) -> Work:
    """Load both, train TranslationMatrix on the same pairs, apply it, save both."""
    from gensim.models import KeyedVectors, TranslationMatrix
    from gensim.models.translation_matrix import Space

    paths = {language: at.path(language) for language in (SOURCE, TARGET)}
    pairs = at.dictionary()

    def work() -> None:
        loaded = {name: KeyedVectors.load_word2vec_format(path) for name, path in paths.items()}
        matrix = TranslationMatrix(loaded[SOURCE], loaded[TARGET], pairs)
        mapped = matrix.apply_transmat(Space.build(loaded[SOURCE]))
        moved = _keyed_vectors(Embeddings(mapped.index2word, mapped.mat.astype(np.float32)))
        for name, vectors in ((SOURCE, moved), (TARGET, loaded[TARGET])):
            vectors.save_word2vec_format(at.output(f"{name}.vec"))

    return work


def _unit_vectors(at: Setting) -> tuple[Matrix, Matrix, Matrix]:
    embeddings = at.both()
    mapper = get_mapper("geomm", regularization=100.0)
    space = mapper.fit(embeddings, {(SOURCE, TARGET): at.dictionary()}).map(embeddings)
    source, target = space.unit_vectors(SOURCE), space.unit_vectors(TARGET)
    return source, target, source[test_rows(at.words)]


def _keyed_vectors(embeddings: Embeddings) -> object:
    from geomm_adapters import to_keyedvectors

    return to_keyedvectors(embeddings)


def measure(work: Work) -> dict[str, float]:
    """Run once, or the best of three if it is short."""
    best: dict[str, float] = {}
    for _ in range(3):
        before, start = _cpu_seconds(), time.perf_counter()
        work()
        cpu, wall = _cpu_seconds() - before, time.perf_counter() - start
        if not best or cpu < best["cpu"]:
            best = {"cpu": cpu, "wall": wall}
        if wall > 3:
            break
    return best | {"peak": _peak_megabytes()}


def _cpu_seconds() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, both))


def _peak_megabytes() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (children or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


if __name__ == "__main__":
    job, who, folder, words, dimension = sys.argv[1:]
    setting = Setting(Path(folder), int(words), int(dimension))
    setting.output("").parent.mkdir(parents=True, exist_ok=True)
    print(json.dumps(measure(globals()[f"{job}_{who}"](setting))))
