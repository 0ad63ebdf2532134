"""`geomm neighborhoods`: save what CSLS needs to know of aligned files, for quick first answers."""

from __future__ import annotations

from geomm_plugin import SharedSpace
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.terminal import show


@options.as_command
@options.space_options()
@options.option(
    "-k", "Neighbours in each mean, as in --retrieval csls:k=10.", default=10, type=forms.COUNT
)
@options.run_options(jobs=options.THREADS, default=None, cluster=True)
def command(files: options.SpaceFiles, k: int, run: options.Run) -> None:
    """Save the CSLS means of aligned files beside them, as FILE.neighborhoods.

    `translate`, `explore` and `evaluate` find them, and give their first answer at once; the
    answers are the same with and without. They are used only for the very vectors that they were
    computed from. All words of a language are compared with all of the other ones, which takes
    minutes for 200,000 words; `geomm align --neighborhoods` does it, too.

    \b
    Example:
        geomm neighborhoods en=aligned/en.vec es=aligned/es.vec
    """
    with run.shown():
        paths = SharedSpace(files.read()).save_neighborhoods(k, jobs=run.jobs, cluster=run.cluster)
    for path in () if run.quiet else paths:
        show(f"Wrote {path}")
