"""Colours of all pages and pictures, in light and in dark.

Every colour has a contrast of at least 4.5 : 1 with the surface it stands on (WCAG 2.2, AA); since
not everyone tells them apart, pictures add a name, a shape or a dash to each.
"""

from __future__ import annotations

SERIES = {
    "light": (
        "#1f5fbf", "#b8480a", "#16753a", "#8431c9", "#b01c64", "#0c7075", "#7d5a05", "#505a6b",
    ),
    "dark": (
        "#86b4ff", "#ff9f5f", "#6ed08f", "#c99cff", "#ff8abf", "#5ecdd3", "#e0bd5c", "#b3bccc",
    ),
}  # fmt: skip
SURFACES = {
    "light": {
        "ground": "#fbfbfa",
        "surface": "#ffffff",
        "text": "#1b1d21",
        "muted": "#5d636e",
        "line": "#dcdfe4",
        "accent": "#1f5fbf",
        "wash": "#e8f0fc",
        "mark": "#fff1c2",
    },
    "dark": {
        "ground": "#15171b",
        "surface": "#1d2026",
        "text": "#e9ebef",
        "muted": "#a2a9b6",
        "line": "#363b45",
        "accent": "#86b4ff",
        "wash": "#22324d",
        "mark": "#4b3f15",
    },
}
COUNT = len(SERIES["light"])


def color_rules() -> str:
    """Return the colours as CSS: variables, and a class color-N for each series.

    Paper is light, whatever the screen is.
    """
    classes = "\n".join(f".color-{n} {{ --color: var(--color-{n}); }}" for n in range(COUNT))
    return (
        f":root {{ color-scheme: light dark; {_variables('light')} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables('dark')} }} }}\n"
        f"{classes}\n"
    )


def schemes_by_address() -> str:
    """Return rules by which a picture's address chooses its colors: #only-light or #only-dark."""
    return "".join(f"#only-{scheme}:target ~ * {{ {_variables(scheme)} }}\n" for scheme in SURFACES)


def _variables(scheme: str) -> str:
    surfaces = [f"--{name}: {color};" for name, color in SURFACES[scheme].items()]
    series = [f"--color-{n}: {color};" for n, color in enumerate(SERIES[scheme])]
    return " ".join(surfaces + series)
