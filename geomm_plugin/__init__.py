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
if TYPE_CHECKING:  # what type checkers and editors see; _MODULE_OF is what Python sees
    from geomm_plugin import registry
    from geomm_plugin.alignment.run import Alignment, align
    from geomm_plugin.alignment.space import read_space, write_space
    from geomm_plugin.dictionary import (
        Dictionary,
        as_dictionary,
        identical_words,
        pair_up,
        read_dictionary,
        split,
        write_dictionary,
    )
    from geomm_plugin.embeddings import Embeddings, as_embeddings
    from geomm_plugin.evaluation.comparison import compare
    from geomm_plugin.evaluation.drift import Drift, drift
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.task import Task, TaskScore
    from geomm_plugin.evaluation.translation import evaluate
    from geomm_plugin.fitting.hub import HubMapper
    from geomm_plugin.fitting.reranking import learn_reranking
    from geomm_plugin.fitting.riemannian import RiemannianMapper
    from geomm_plugin.fitting.seeds.spelling import cognates
    from geomm_plugin.formats import Format, read_embeddings, write_embeddings
    from geomm_plugin.mapper import LinearMapper, Mapper
    from geomm_plugin.normalize import Normalizer
    from geomm_plugin.registry import as_mapper, as_retrieval, get_mapper
    from geomm_plugin.registry.hookspecs import hookimpl
    from geomm_plugin.retrieval import CSLS, Cosine, Feature, InvertedSoftmax, Reranked, Retrieval
    from geomm_plugin.shared_space import SharedSpace
    from geomm_plugin.storage import load_mapper, load_reranking, save_mapper
    from geomm_plugin.views.explorer import explore

__all__ = [
    "CSLS",
    "Alignment",
    "Cosine",
    "Dictionary",
    "Drift",
    "Embeddings",
    "Feature",
    "Format",
    "HubMapper",
    "InvertedSoftmax",
    "LinearMapper",
    "Mapper",
    "Metric",
    "Normalizer",
    "Reranked",
    "Retrieval",
    "RiemannianMapper",
    "SharedSpace",
    "Task",
    "TaskScore",
    "align",
    "as_dictionary",
    "as_embeddings",
    "as_mapper",
    "as_retrieval",
    "cognates",
    "compare",
    "drift",
    "evaluate",
    "explore",
    "get_mapper",
    "hookimpl",
    "identical_words",
    "learn_reranking",
    "load_mapper",
    "load_reranking",
    "pair_up",
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
    "alignment.run": ("Alignment", "align"),
    "alignment.space": ("read_space", "write_space"),
    "dictionary": (
        *("Dictionary", "as_dictionary", "identical_words", "pair_up", "read_dictionary"),
        *("split", "write_dictionary"),
    ),
    "embeddings": ("Embeddings", "as_embeddings"),
    "evaluation.comparison": ("compare",),
    "evaluation.metrics": ("Metric",),
    "evaluation.drift": ("Drift", "drift"),
    "evaluation.task": ("Task", "TaskScore"),
    "evaluation.translation": ("evaluate",),
    "fitting.hub": ("HubMapper",),
    "fitting.reranking": ("learn_reranking",),
    "fitting.riemannian": ("RiemannianMapper",),
    "fitting.seeds.spelling": ("cognates",),
    "formats": ("Format", "read_embeddings", "write_embeddings"),
    "registry.hookspecs": ("hookimpl",),
    "mapper": ("LinearMapper", "Mapper"),
    "normalize": ("Normalizer",),
    "registry": ("as_mapper", "as_retrieval", "get_mapper"),
    "retrieval": ("CSLS", "Cosine", "Feature", "InvertedSoftmax", "Reranked", "Retrieval"),
    "shared_space": ("SharedSpace",),
    "storage": ("load_mapper", "load_reranking", "save_mapper"),
    "views.explorer": ("explore",),
}
_MODULE_OF = {name: module for module, names in _NAMES_IN.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562)."""
    from importlib import import_module

    if name == "registry":
        return import_module(f"{__name__}.registry")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
