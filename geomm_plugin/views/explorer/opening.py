"""Open the explorer's page: the whole of `geomm explore`, from Python."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress

from geomm_plugin import progress
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.views.explorer.explorer import Explorer
from geomm_plugin.views.explorer.redirect_page import redirect_page
from geomm_plugin.views.explorer.server import ExplorerServer

ALIGNED = "aligned files"  # the name of a space that came without one


def explore(
    space: Mapping[str, object],
    *,
    port: int = 0,
    browser: bool = True,
    quiet: bool = True,
    on_address: Callable[[str], object] = print,
) -> None:
    """Open a page with the translations and neighbours of any word, until Ctrl-C.

    Only this machine is answered, and only where the whole address is known.

    Parameters
    ----------
    space
        A SharedSpace; aligned vectors by language (Embeddings, gensim KeyedVectors, ...); or
        several SharedSpaces of the same words by name, between which the page switches.
    port
        0 takes any that is free.
    browser
        Whether to open the page in the user's browser.
    quiet
        Whether to show no progress before the page is ready.
    on_address
        Called with the address of the page.
    """
    with progress.shown(quiet):
        with progress.task("Sorting words"):
            explorer = Explorer(as_spaces(space))
        explorer.prepare()
    with ExplorerServer(explorer, port) as server, redirect_page(server.address) as page:
        on_address(server.address)
        if browser:
            webbrowser.open(page.as_uri())  # the address itself would be seen by `ps`
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def as_spaces(space: Mapping[str, object]) -> dict[str, SharedSpace]:
    """Return spaces by name: those that are given so, or the one space that languages make."""
    if isinstance(space, SharedSpace):
        return {ALIGNED: space}
    spaces = {name: value for name, value in space.items() if isinstance(value, SharedSpace)}
    if spaces and len(spaces) == len(space):
        return spaces
    return {ALIGNED: SharedSpace(space)}
