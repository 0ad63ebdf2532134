"""A drop-in for gensim's TranslationMatrix: the same calls and answers, with every mapper and CSLS.

    from gensim.models.translation_matrix import TranslationMatrix    # before
    from geomm_adapters import TranslationMatrix                      # after

What differs on purpose: `mapper` chooses the method; pairs outside the vocabularies are left out,
not an error; `gc=1` ranks by CSLS; no warning when the vectors of training are used; `save` writes
one file of arrays, not pickle. gensim itself is not needed where the vectors are not gensim's.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from geomm_adapters.gensim.keyed_vectors import keyed_vectors_of, to_keyedvectors
from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import (
    DictionaryError,
    FileError,
    FormatError,
    MissingExtraError,
    NotFittedError,
    UnknownNameError,
)
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.files.stamps import sha256_of_arrays
from geomm_plugin.files.trust import parse_json, read_arrays
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import CSLS, Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import (
    describe_mapper,
    mapper_arrays,
    mapper_of,
    parse_description,
)

SOURCE, TARGET = "source", "target"
KIND = "geomm_plugin.translation_matrix"


class UnknownKeyError(UnknownNameError, KeyError):
    """A word without a vector; a KeyError too, since gensim raises one."""

    __str__ = Exception.__str__  # a KeyError would print its message quoted and escaped


class Space:
    """Some words and a matrix of their vectors, as gensim's Space."""

    def __init__(self, matrix: Any, index2word: list[str]):
        self.mat = matrix
        self.index2word = index2word
        self.word2index = {word: row for row, word in enumerate(index2word)}

    @classmethod
    def build(cls, lang_vec: Any, lexicon: Iterable[str] | None = None) -> Self:
        """Take the vectors of a lexicon, by default of the whole vocabulary."""
        embeddings = as_embeddings(lang_vec)
        if lexicon is None:
            return cls(embeddings.vectors, list(embeddings.words))
        words = list(lexicon)
        return cls(np.array([_vector(embeddings, word) for word in words]), words)

    def normalize(self) -> None:
        """Scale each vector to length 1."""
        self.mat = unit(np.asarray(self.mat))


class TranslationMatrix:
    """Translates words from one language to another, by any registered mapper.

    Parameters
    ----------
    source_lang_vec, target_lang_vec
        KeyedVectors, or whatever Embeddings can be made from.
    word_pairs
        Pairs (word, translation) to train on at once; else call train().
    random_state
        Seed (None is 0), or numpy RandomState, for the sample of `translate(gc=1, sample_num=...)`.
    mapper
        A registered name, or a mapper with your own parameters, which train() fits.
    """

    def __init__(
        self,
        source_lang_vec: Any,
        target_lang_vec: Any,
        word_pairs: Collection[tuple[str, str]] | None = None,
        random_state: Any = None,
        mapper: str | Mapper = "geomm",
    ):
        self.source_word: tuple[str, ...] | None = None
        self.target_word: tuple[str, ...] | None = None
        self.source_lang_vec = source_lang_vec
        self.target_lang_vec = target_lang_vec
        if not hasattr(random_state, "choice"):
            random_state = np.random.default_rng(0 if random_state is None else random_state)
        self.random_state = random_state
        self.translation_matrix: Matrix | None = None
        self.source_space: Space | None = None
        self.target_space: Space | None = None
        self.mapper = as_mapper(mapper)
        self._space: tuple[Any, Any, SharedSpace] | None = None
        if word_pairs is not None:
            self.train(word_pairs)

    def train(self, word_pairs: Iterable[tuple[str, str]]) -> None:
        """Fit the mapper to pairs of words."""
        pairs = list(word_pairs)
        if not pairs or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
            raise DictionaryError(
                "Each training item must be a pair (word, translation); there are "
                f"{len(pairs)}{f', the first is {pairs[0]!r}' if pairs else ''}."
            )
        source, target = as_embeddings(self.source_lang_vec), as_embeddings(self.target_lang_vec)
        self.mapper.fit({SOURCE: source, TARGET: target}, {(SOURCE, TARGET): pairs})
        self.source_word, self.target_word = map(tuple, zip(*pairs, strict=True))
        self.source_space = _trained_space(source, self.source_word)
        self.target_space = _trained_space(target, self.target_word)
        self._take_matrix()

    def apply_transmat(self, words_space: Any) -> Any:
        """Map source vectors (of length 1) so that their products with target vectors are scores.

        Returns a Space of the same class. With W(source, target) = A_source A_target', a vector x
        becomes normalize(x) W, which lives in the target's own space; W itself is
        `translation_matrix`. A mapper that is not linear gives its vectors in the shared space.
        """
        mapped = self._fitted().transform(SOURCE, np.asarray(words_space.mat))
        if isinstance(self.mapper, LinearMapper):
            mapped = mapped @ self.mapper.matrices_[TARGET].T.astype(mapped.dtype)
        return type(words_space)(mapped, words_space.index2word)

    def translate(
        self,
        source_words: str | Iterable[str],
        topn: int = 5,
        gc: int = 0,
        sample_num: int | None = None,
        source_lang_vec: Any = None,
        target_lang_vec: Any = None,
        retrieval: str | Retrieval | None = None,
    ) -> OrderedDict[str, list[str]]:
        """Return the topn best target words for each source word, best first.

        Parameters
        ----------
        gc
            0 ranks by the cosine. 1 corrects for hubs, the target words that are near to
            everything: gensim does so by inverted ranks, here it is CSLS.
        sample_num
            With gc: estimate the hubs from so many source words, drawn at random; by default from
            all of them.
        source_lang_vec, target_lang_vec
            Other vectors of the same languages than those of training.
        retrieval
            A registered name or an object such as CSLS(k=5), in place of gc.
        """
        words = [source_words] if isinstance(source_words, str) else list(source_words)
        space = self._shared_space(source_lang_vec, target_lang_vec)
        if retrieval is None:
            retrieval = CSLS() if gc else "cosine"
        if gc and sample_num is not None:
            space = self._sampled(space, words, sample_num)
        try:
            ranked = space.translate(words, SOURCE, TARGET, k=topn, retrieval=retrieval)
        except UnknownNameError as error:
            raise UnknownKeyError(str(error)) from error
        return OrderedDict(
            (word, [translation for translation, _ in translations])
            for word, translations in zip(words, ranked, strict=True)
        )

    def save(self, fname: str | Path) -> None:
        """Save the mapper and both vocabularies to one file of arrays (safetensors).

        KeyedVectors come back as KeyedVectors, all else as Embeddings; fastText's come back without
        subwords, for which translate() takes the model again, as source_lang_vec.
        """
        from safetensors.numpy import save

        mapper = self._fitted()
        arrays = {f"mapper/{name}": array for name, array in mapper_arrays(mapper).items()}
        sides = {SOURCE: self.source_lang_vec, TARGET: self.target_lang_vec}
        for name, vectors in sides.items():
            embeddings = as_embeddings(vectors)
            words = json.dumps(list(embeddings.words)).encode()
            arrays[f"{name}/words"] = np.frombuffer(words, np.uint8)
            arrays[f"{name}/vectors"] = embeddings.vectors
            for attribute, values in embeddings.attributes.items():
                if values.dtype != object:  # a file of arrays cannot hold texts and other objects
                    arrays[f"{name}/attributes/{attribute}"] = values
        keyed = [name for name, side in sides.items() if keyed_vectors_of(side) is not None]
        header = {
            "kind": KIND,
            "mapper": describe_mapper(mapper),
            "keyed_vectors": json.dumps(keyed),
            "words": json.dumps([self.source_word, self.target_word]),
        }
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        header["sha256"] = sha256_of_arrays(contiguous, header)
        with atomic_file(Path(fname)) as part:
            disk.write_file(part, save(contiguous, header))

    @classmethod
    def load(cls, fname: str | Path) -> Self:
        """Load what save() wrote."""
        path = Path(fname)
        header, arrays = _read(path)
        description = parse_description(header.get("mapper", ""), path)
        mapper = mapper_of(description, _part(arrays, "mapper"), path, path)
        try:
            keyed, words = parse_json(header["keyed_vectors"]), parse_json(header["words"])
            source, target = (
                Embeddings(
                    parse_json(own["words"].tobytes()), own["vectors"], _part(own, "attributes")
                )
                for own in (_part(arrays, SOURCE), _part(arrays, TARGET))
            )
            model = cls(
                to_keyedvectors(source) if SOURCE in keyed else source,
                to_keyedvectors(target) if TARGET in keyed else target,
                mapper=mapper,
            )
            model.source_word, model.target_word = map(tuple, words)
            model._take_matrix()
        except MissingExtraError:
            raise
        except Exception as error:  # not a file of save(): anything may be raised
            raise FormatError(
                f"{path}: not a saved TranslationMatrix ({error}). Train and save again."
            ) from error
        return model

    def _fitted(self) -> Mapper:
        if self.source_word is None:
            raise NotFittedError("This TranslationMatrix is not trained; call train() first.")
        return self.mapper

    def _take_matrix(self) -> None:
        if isinstance(self.mapper, LinearMapper):
            self.translation_matrix = self.mapper.W(SOURCE, TARGET)
        self._space = None

    def _shared_space(self, source: Any, target: Any) -> SharedSpace:
        """Map both vocabularies; the last space, with its retrieval indexes, is cached."""
        source = self.source_lang_vec if source is None else source
        target = self.target_lang_vec if target is None else target
        if self._space is None or self._space[0] is not source or self._space[1] is not target:
            space = self._fitted().map({SOURCE: source, TARGET: target})
            self._space = (source, target, space)
        return self._space[2]

    def _sampled(self, space: SharedSpace, words: list[str], sample_num: int) -> SharedSpace:
        """Return the space with only the words to translate and a sample of the source words."""
        embeddings = space[SOURCE]
        others = [word for word in embeddings.words if word not in set(words)]
        count = min(sample_num, len(others))
        chosen = self.random_state.choice(len(others), count, replace=False)
        sample = Space.build(embeddings, [*dict.fromkeys(words), *(others[row] for row in chosen)])
        return SharedSpace({SOURCE: (sample.index2word, sample.mat), TARGET: space[TARGET]})


def _trained_space(embeddings: Embeddings, words: Iterable[str]) -> Space:
    space = Space.build(embeddings, [word for word in dict.fromkeys(words) if word in embeddings])
    space.normalize()
    return space


def _vector(embeddings: Embeddings, word: str) -> Matrix:
    try:
        return embeddings.vector(word)
    except UnknownNameError as error:
        raise UnknownKeyError(str(error)) from error


def _read(path: Path) -> tuple[dict[str, str], dict[str, Matrix]]:
    if not path.is_file():
        raise FileError(f"There is no file {path}. Check the path of the translation matrix.")
    try:
        header, arrays = read_arrays(path)
    except FormatError as error:
        raise FormatError(
            f"{error} A TranslationMatrix that gensim itself saved is a pickle, which is not read "
            "here: train again from the same word pairs, and save."
        ) from error
    if header.get("kind") != KIND:
        raise FormatError(f"{path}: holds arrays, but not those of a TranslationMatrix.")
    if header.pop("sha256", None) != sha256_of_arrays(arrays, header):
        raise FormatError(
            f"{path}: its checksum differs from what it holds. The file is damaged; copy it again, "
            "or train and save again."
        )
    return header, arrays


def _part(arrays: dict[str, Matrix], name: str) -> dict[str, Matrix]:
    """Return the arrays under a name, without it."""
    return {k.removeprefix(f"{name}/"): v for k, v in arrays.items() if k.startswith(f"{name}/")}
