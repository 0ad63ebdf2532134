"""[fit] Languages are nodes, dictionaries are edges: which hang together, and how to walk them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from geomm_plugin.errors import LanguagesError

LanguagePair: TypeAlias = tuple[str, str]


def neighbors(edges: Iterable[LanguagePair]) -> dict[str, list[str]]:
    """List the languages that each language has a dictionary with, in alphabetical order."""
    linked: dict[str, set[str]] = {}
    for source, target in edges:
        linked.setdefault(source, set()).add(target)
        linked.setdefault(target, set()).add(source)
    return {language: sorted(linked[language]) for language in sorted(linked)}


def spanning_tree(edges: Iterable[LanguagePair], root: str) -> list[tuple[str, str]]:
    """Return (language, its parent) for all languages but the root, nearest to the root first."""
    linked = neighbors(edges)
    tree: list[tuple[str, str]] = []
    reached = [root]
    for parent in reached:  # grows while we walk: breadth first
        for language in linked.get(parent, []):
            if language not in reached:
                reached.append(language)
                tree.append((language, parent))
    return tree


def check_connected(languages: Iterable[str], edges: Iterable[LanguagePair]) -> None:
    """Refuse a graph in several parts, naming them."""
    edges, languages = list(edges), list(languages)
    if len(languages) < 2:
        raise LanguagesError(f"A fit needs at least two languages; there are {languages}.")
    parts: list[list[str]] = []
    for language in languages:
        if not any(language in part for part in parts):
            parts.append([language, *(child for child, _ in spanning_tree(edges, language))])
    if len(parts) == 1:
        return
    smallest = min(reversed(parts), key=len)
    others = [language for language in languages if language not in smallest]
    if len(smallest) == 1:
        message = f"No dictionary links {smallest[0]} to the others ({', '.join(others)})"
    else:
        named = " and ".join(f"({', '.join(part)})" for part in parts)
        message = f"The dictionaries leave the languages in {len(parts)} parts: {named}"
    raise LanguagesError(f"{message}; add one such as dictionaries[{(smallest[0], others[-1])}].")


def choose_hub(edges: Iterable[LanguagePair]) -> str:
    """Return the language with the most dictionaries; of two, the one more often a target."""
    edges = list(edges)
    targets = [target for _, target in edges]
    linked = neighbors(edges)
    return min(linked, key=lambda name: (-len(linked[name]), -targets.count(name), name))
