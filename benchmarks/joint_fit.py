"""The joint fit of many languages: our quasi-Newton search and pymanopt's conjugate gradient.

    python benchmarks/joint_fit.py                                     # the embedded data
    python benchmarks/joint_fit.py en=wiki.en.vec es=wiki.es.vec it=wiki.it.vec \
        --dictionary en-es=en-es.txt --dictionary en-it=en-it.txt --identical es-it

Both minimize the same cost from the same start. CPU seconds of this process, with one BLAS thread;
ratios are to be compared, not seconds. The cost is shown as what the maps gain over the zero map,
which costs 1 a dictionary: larger is better.
"""

from __future__ import annotations

import time

import click

from geomm_plugin import get_mapper
from geomm_plugin.cli import options
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.table import text_table
from geomm_plugin.factorization import few_threads


@click.command()
@click.argument("embeddings", nargs=-1, metavar="[LANG=FILE...]")
@click.option("--dictionary", "-d", "dictionaries", multiple=True)
@click.option("--identical", multiple=True)
@click.option("--regularization", type=float, default=0.1, show_default=True)
@click.option("--iterations", type=int, default=600, show_default=True, help="Of pymanopt.")
def main(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    regularization: float,
    iterations: int,
) -> None:
    """Fit geomm_multi with both solvers."""
    if embeddings:
        languages = options.SpaceFiles(None, embeddings).read()
        pairs = options.Fit(None, (), dictionaries, identical).read(languages)
    else:
        demo = load_demo()
        languages, pairs = demo.embeddings, demo.train
    rows = [["solver", "CPU s", "iterations", "gain"]]
    settings = {"quasi-newton": {}, "riemannian": {"max_iterations": iterations, "tolerance": 0.0}}
    for solver, limits in settings.items():
        mapper = get_mapper("geomm_multi", regularization=regularization, solver=solver, **limits)
        start = time.process_time()
        with few_threads():
            mapper.fit(languages, pairs)
        seconds = time.process_time() - start
        (run,) = mapper.report_.solver.values()
        gain = f"{len(pairs) - run.cost:.6f}"
        rows.append([solver, f"{seconds:.1f}", str(run.iterations), gain])
    click.echo(text_table(rows))


if __name__ == "__main__":
    main()
