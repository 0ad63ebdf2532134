"""Align word embeddings across languages: one registry of mappers behind one interface.

The pipeline is the table of contents; each arrow is a module:

    read        embeddings, formats     read_embeddings("wiki.en.vec")
    normalize   normalize               Normalizer(["unit", "center"])
    pair up     dictionary              read_dictionary("en-es.txt")
    fit, map    mapper, mappers/        get_mapper("geomm").fit(embeddings, dictionaries)
    map         shared_space            mapper.map(embeddings).translate("dog", "en", "es")
    retrieve    retrieval               Cosine, CSLS, InvertedSoftmax
    evaluate    evaluation, comparison  evaluate(...), compare(...)
    export      formats, storage        write_embeddings(...), save_mapper(...)
"""

from geomm_plugin import registry
from geomm_plugin.dictionary import (
    identical_words,
    pair_up,
    read_dictionary,
    split,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.evaluation.comparison import compare
from geomm_plugin.evaluation.metrics import Metric
from geomm_plugin.evaluation.translation import evaluate
from geomm_plugin.fitting.hub import HubMapper
from geomm_plugin.formats import Format, read_embeddings, write_embeddings
from geomm_plugin.hookspecs import hookimpl
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.normalize import Normalizer
from geomm_plugin.registry import get_mapper
from geomm_plugin.retrieval import (
    CSLS,
    Cosine,
    InvertedSoftmax,
    Retrieval,
)
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper, save_mapper

__all__ = [
    "CSLS",
    "Cosine",
    "Embeddings",
    "Format",
    "HubMapper",
    "InvertedSoftmax",
    "LinearMapper",
    "Mapper",
    "Metric",
    "Normalizer",
    "Retrieval",
    "SharedSpace",
    "as_embeddings",
    "compare",
    "evaluate",
    "get_mapper",
    "hookimpl",
    "identical_words",
    "load_mapper",
    "pair_up",
    "read_dictionary",
    "read_embeddings",
    "registry",
    "save_mapper",
    "split",
    "write_embeddings",
]
