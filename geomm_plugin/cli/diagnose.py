"""`geomm diagnose`: why an alignment is good or bad, or, without a dictionary, may become so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.evaluation.diagnosis import (
    Diagnosis,
    LanguageSimilarity,
    SuspiciousPair,
    diagnose,
    language_similarity,
)
from geomm_plugin.evaluation.table import text_table
from geomm_plugin.text import printable

SUSPICIOUS_PAIRS_SHOWN = 20


@options.as_command
@options.space_options()
@options.fit_options("procrustes", what="Aligns each pair that has a dictionary, e.g. geomm.")
@options.run_options(as_json="a pair")
def command(files: options.SpaceFiles, fit: options.Fit, run: options.Run) -> None:
    """Look at dictionaries, hubs and how alike the spaces are, and say what to do.

    Without a dictionary: how alike the spaces are, and how many words have the same or a
    similar spelling, before a fit such as geomm_unsup.

    \b
    Examples:
        geomm diagnose en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt
        geomm diagnose en=wiki.en.vec es=wiki.es.vec
    """
    mapper = fit.make_mapper()
    results: list[Diagnosis] | list[LanguageSimilarity]
    with run.shown():
        read = files.read()
        pairs = fit.read(read)
        results = diagnose(read, pairs, mapper) if pairs else language_similarity(read)
    if run.json:
        run.report([result.row() for result in results])
    for result in () if run.json else results:
        title = "-".join(result.pair)
        if isinstance(result, Diagnosis):
            _show(title, _of_dictionary(result))
            _show_suspicious(result.suspicious)
        else:
            _show(f"{title}, without a dictionary", _of_languages(result))
        for sentence in result.advice():
            show(f"  {sentence}")


def _show(title: str, rows: Mapping[str, str]) -> None:
    show(title)
    show(text_table([[f"  {name}", value] for name, value in rows.items()]))


def _of_dictionary(found: Diagnosis) -> dict[str, str]:
    source, target = found.pair
    hubs = found.hubness
    return {
        "dictionary": f"{found.n_pairs} pairs, coverage {found.coverage:.0%}",
        "missing": f"{found.missing_source} in {source}, {found.missing_target} in {target}",
        "identical words": f"{found.identical:.0%} of the pairs",
        "hubness alone": f"{source} {hubs['source']:.2f}, {target} {hubs['target']:.2f}",
        "hubness mapped": f"cosine {hubs['cosine']:.2f}, CSLS {hubs['csls']:.2f}",
        "relational similarity": f"{found.relational_similarity:.3f} (isometric: 1)",
        "Laplacian difference": f"{found.laplacian_difference:.1f} (isometric: 0)",
        "singular value gap": f"{found.singular_value_gap:.1f} (isometric: 0)",
        "suspicious pairs": str(len(found.suspicious)),
    }


def _of_languages(found: LanguageSimilarity) -> dict[str, str]:
    related = found.relational_similarity
    shown = "too few cognates" if related is None else f"{related:.3f} of cognates (isometric: 1)"
    orders = (
        f"{language}: {'counts unknown' if order is None else f'{order:.0%}'}"
        for language, order in found.frequency_order.items()
    )
    return {
        "words": " and ".join(map(str, found.words)),
        "seeds by spelling": ", ".join(f"{name} {count}" for name, count in found.seeds.items()),
        "relational similarity": shown,
        "Laplacian difference": f"{found.laplacian_difference:.1f} (isometric: 0)",
        "singular value gap": f"{found.singular_value_gap:.1f} (isometric: 0)",
        "in order of frequency": ", ".join(orders),
    }


def _show_suspicious(pairs: Sequence[SuspiciousPair]) -> None:
    for pair in pairs[:SUSPICIOUS_PAIRS_SHOWN]:
        words = printable(f"{pair.source} - {pair.target}")
        show(f"    {words}  cosine {pair.cosine:.2f}; rather {printable(pair.suggestion)}")
    if len(pairs) > SUSPICIOUS_PAIRS_SHOWN:
        show(f"    and {len(pairs) - SUSPICIOUS_PAIRS_SHOWN} more (--json lists all)")
