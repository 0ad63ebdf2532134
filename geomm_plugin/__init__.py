"""Align word embeddings across languages: one registry of mappers behind one interface.

The pipeline is the table of contents; each arrow is a module or a folder:

    read        embeddings, formats     read_embeddings("wiki.en.vec")
    normalize   normalize               Normalizer(["unit", "center"])
    pair up     dictionary              read_dictionary("en-es.txt")
    fit, map    mapper, mappers/        get_mapper("geomm").fit(embeddings, dictionaries)
    map         shared_space            mapper.map(embeddings).translate("dog", "en", "es")
    retrieve    retrieval/              Cosine, CSLS, InvertedSoftmax, Reranked
    evaluate    evaluation/             evaluate(...), compare(...)
    export      formats, storage        write_embeddings(...), save_mapper(...)
    all of it   alignment/              align({"en": "wiki.en.vec", ...}, ..., output="aligned/")

Each public name is loaded when it is first used, so that `import geomm_plugin` costs nothing.
"""

TYPE_CHECKING = False  # typing's own would be an import, and Ctrl-C in it a traceback
if TYPE_CHECKING:  # what type checkers and editors see; _NAMES_IN is what Python sees
    from geomm_plugin import registry
    from geomm_plugin.alignment.run import align
    from geomm_plugin.alignment.space import read_space, write_space
    from geomm_plugin.dictionary import (
        Dictionary,
        identical_words,
        read_dictionary,
        split,
        write_dictionary,
    )
    from geomm_plugin.embeddings import Embeddings
    from geomm_plugin.evaluation.comparison import compare
    from geomm_plugin.evaluation.drift import drift
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.translation import evaluate
    from geomm_plugin.fitting.hub import HubMapper
    from geomm_plugin.fitting.riemannian import RiemannianMapper
    from geomm_plugin.fitting.seeds.spelling import cognates
    from geomm_plugin.formats import Format, read_embeddings, write_embeddings
    from geomm_plugin.mapper import LinearMapper, Mapper
    from geomm_plugin.registry import get_mapper
    from geomm_plugin.registry.hookspecs import hookimpl
    from geomm_plugin.retrieval import CSLS, Cosine, InvertedSoftmax, Reranked, Retrieval
    from geomm_plugin.shared_space import SharedSpace
    from geomm_plugin.storage import load_mapper, save_mapper

__all__ = [
    "CSLS",
    "Cosine",
    "Dictionary",
    "Embeddings",
    "Format",
    "HubMapper",
    "InvertedSoftmax",
    "LinearMapper",
    "Mapper",
    "Metric",
    "Reranked",
    "Retrieval",
    "RiemannianMapper",
    "SharedSpace",
    "align",
    "cognates",
    "compare",
    "drift",
    "evaluate",
    "get_mapper",
    "hookimpl",
    "identical_words",
    "load_mapper",
    "read_dictionary",
    "read_embeddings",
    "read_space",
    "registry",
    "save_mapper",
    "split",
    "write_dictionary",
    "write_embeddings",
    "write_space",
]

_NAMES_IN = {
    "alignment.run": "align",
    "alignment.space": "read_space write_space",
    "dictionary": "Dictionary identical_words read_dictionary split write_dictionary",
    "embeddings": "Embeddings",
    "evaluation.comparison": "compare",
    "evaluation.drift": "drift",
    "evaluation.metrics": "Metric",
    "evaluation.translation": "evaluate",
    "fitting.hub": "HubMapper",
    "fitting.riemannian": "RiemannianMapper",
    "fitting.seeds.spelling": "cognates",
    "formats": "Format read_embeddings write_embeddings",
    "mapper": "LinearMapper Mapper",
    "registry": "get_mapper",
    "registry.hookspecs": "hookimpl",
    "retrieval": "CSLS Cosine InvertedSoftmax Reranked Retrieval",
    "shared_space": "SharedSpace",
    "storage": "load_mapper save_mapper",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562)."""
    from importlib import import_module

    if name == "registry":
        return import_module(f"{__name__}.registry")
    for module, names in _NAMES_IN.items():
        if name in names.split():
            value: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
