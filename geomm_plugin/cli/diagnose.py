"""`geomm diagnose`: why an alignment is good or bad, or, without a dictionary, may become so."""

from __future__ import annotations

import click

from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.terminal import show
from geomm_plugin.evaluation.diagnosis import (
    Diagnosis,
    LanguageSimilarity,
    diagnose,
    language_similarity,
)
from geomm_plugin.evaluation.table import text_table
from geomm_plugin.text import printable

SUSPICIOUS_PAIRS_SHOWN = 20


@click.command(cls=Command)
@options.space_options()
@options.fit_options("procrustes", what="Aligns each pair, e.g. geomm:regularization=100.")
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
    chosen = fit.make_mapper()
    with run.shown():
        read = files.read()
        pairs = fit.read(read)
        results: list[Diagnosis] | list[LanguageSimilarity] = (
            diagnose(read, pairs, chosen) if pairs else language_similarity(read)
        )
    if run.json:
        run.report([result.row() for result in results])
    for result in () if run.json else results:
        if isinstance(result, Diagnosis):
            _show(result)
        else:
            _show_similarity(result)


def _show_similarity(result: LanguageSimilarity) -> None:
    source, target = result.pair
    related = result.relational_similarity
    orders = {
        language: "counts unknown" if order is None else f"{order:.0%}"
        for language, order in result.frequency_order.items()
    }
    rows = [
        ["words", " and ".join(map(str, result.words))],
        ["seeds by spelling", ", ".join(f"{name} {count}" for name, count in result.seeds.items())],
        [
            "relational similarity",
            "too few cognates" if related is None else f"{related:.3f} of cognates (isometric: 1)",
        ],
        ["Laplacian difference", f"{result.laplacian_difference:.1f} (isometric: 0)"],
        ["singular value gap", f"{result.singular_value_gap:.1f} (isometric: 0)"],
        ["in order of frequency", ", ".join(f"{name}: {share}" for name, share in orders.items())],
    ]
    show(f"{source}-{target}, without a dictionary")
    show(text_table([["  " + name, value] for name, value in rows]))
    for sentence in result.advice():
        show(f"  {sentence}")


def _show(diagnosis: Diagnosis) -> None:
    source, target = diagnosis.pair
    mapped = diagnosis.hubness
    show(f"{source}-{target}")
    rows = [
        ["dictionary", f"{diagnosis.n_pairs} pairs, coverage {diagnosis.coverage:.0%}"],
        [
            "missing",
            f"{diagnosis.missing_source} in {source}, {diagnosis.missing_target} in {target}",
        ],
        ["identical words", f"{diagnosis.identical:.0%} of the pairs"],
        ["hubness alone", f"{source} {mapped['source']:.2f}, {target} {mapped['target']:.2f}"],
        ["hubness mapped", f"cosine {mapped['cosine']:.2f}, CSLS {mapped['csls']:.2f}"],
        ["relational similarity", f"{diagnosis.relational_similarity:.3f} (isometric: 1)"],
        ["Laplacian difference", f"{diagnosis.laplacian_difference:.1f} (isometric: 0)"],
        ["singular value gap", f"{diagnosis.singular_value_gap:.1f} (isometric: 0)"],
        ["suspicious pairs", str(len(diagnosis.suspicious))],
    ]
    show(text_table([["  " + name, value] for name, value in rows]))
    for pair in diagnosis.suspicious[:SUSPICIOUS_PAIRS_SHOWN]:
        words = printable(f"{pair.source} - {pair.target}")
        show(f"    {words}  cosine {pair.cosine:.2f}; rather {printable(pair.suggestion)}")
    if len(diagnosis.suspicious) > SUSPICIOUS_PAIRS_SHOWN:
        more = len(diagnosis.suspicious) - SUSPICIOUS_PAIRS_SHOWN
        show(f"    and {more} more (--json lists all)")
    for sentence in diagnosis.advice():
        show(f"  {sentence}")
