"""What each registered mapper costs to fit, in a process of its own.

    python benchmarks/every_mapper.py                                    # the embedded data
    python benchmarks/every_mapper.py en=wiki.en.vec it=wiki.it.vec --dictionary en-it=en-it.txt

CPU seconds of the fit alone (one BLAS thread), and the peak memory of the whole process, in which
the libraries and the vectors stand, too: the first row is a process that only reads them.
"""

from __future__ import annotations

import resource
import time
from multiprocessing import get_context

import click
from threadpoolctl import threadpool_limits

from geomm_plugin import get_mapper, registry
from geomm_plugin.cli import options
from geomm_plugin.demo import load_demo


def fit(
    name: str | None, embeddings: tuple[str, ...], dictionaries: tuple[str, ...]
) -> tuple[float, float]:
    """Read the files and fit one mapper; return its CPU seconds and the peak in megabytes."""
    if embeddings:
        languages = options.SpaceFiles(None, embeddings).read()
        pairs = options.read_pairs(dictionaries, languages)
    else:
        demo = load_demo()
        languages, pairs = demo.embeddings, demo.train
    start = time.process_time()
    with threadpool_limits(1):
        if name is not None:
            get_mapper(name).fit(languages, pairs)
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@click.command()
@click.argument("embeddings", nargs=-1, metavar="[LANG=FILE...]")
@click.option("--dictionary", "-d", "dictionaries", multiple=True)
@click.option("--mapper", "mappers", multiple=True, help="By default all that are registered.")
def main(
    embeddings: tuple[str, ...], dictionaries: tuple[str, ...], mappers: tuple[str, ...]
) -> None:
    """Measure each mapper."""
    print("| mapper | CPU s | peak MB |\n|---|---:|---:|")
    for name in (None, *(mappers or registry.mappers)):
        with get_context("spawn").Pool(1) as process:
            seconds, peak = process.apply(fit, (name, embeddings, dictionaries))
        print(f"| {name or '(reading only)'} | {seconds:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
