"""Rows of cells as text and as Markdown."""

from geomm_plugin.printable import printable


def markdown_table(rows: list[list[str]]) -> str:
    """Return rows of cells in Markdown, the first one as the header."""
    header, *body = ([c.replace("|", "\\|").replace("\n", " ") for c in cells] for cells in rows)
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def text_table(rows: list[list[str]]) -> str:
    """Return rows of cells in columns."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
