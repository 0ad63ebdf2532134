"""[evaluate] Rows of numbers as text, Markdown, CSV, JSON, LaTeX, HTML and a pandas DataFrame.

What has rows and cells (a comparison, scores, ways through a pivot) inherits from Table, and can be
shown in all of these ways. On a terminal that is too narrow for a table, columns that are the same
in all rows stand once above it, and what follows a number (its interval) stands below it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from geomm_plugin.errors import missing_extra
from geomm_plugin.text import escaped, printable, terminal_width

if TYPE_CHECKING:
    import pandas

GAP = 2  # blanks between columns of text
NARROW_COLUMN = 12  # characters; such a column, mostly of numbers, is not folded


@dataclass(frozen=True)
class Cell:
    """A text in a table; the best and the second best of their kind are set off."""

    text: str
    place: int | None = None  # 1: the best, 2: the second best
    after: str = ""  # plain text that follows, such as an interval or a mark
    number: bool = False  # aligned to the right


Cells: TypeAlias = list[list[Cell]]  # header and rows
EMPTY = Cell("", number=True)


def cell_of(value: object, form: str = ".3f") -> Cell:
    """Return a value as a cell: a number written like this, several values side by side."""
    if value is None:
        return EMPTY
    if isinstance(value, float):
        return Cell(f"{value:{form}}", number=True)
    if isinstance(value, list | tuple):
        return Cell(", ".join(map(str, value)))
    return Cell(str(value), number=isinstance(value, int))


def interval_cell(row: Mapping[str, Any], name: str, place: int | None = None) -> Cell:
    """Return a number of a row, its interval behind it, if there are `name`_low and `name`_high."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return Cell(f"{row[name]:.3f}", place, interval, number=True)


def crossed(corner: Sequence[str], entries: Iterable[tuple[tuple[str, ...], str, Cell]]) -> Cells:
    """Return a table of two ways, from (the texts that a line begins with, its column, a cell).

    Lines and columns come in the order of the entries; a place without an entry is empty.
    """
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for key, column, cell in entries:
        lines.setdefault(key, {})[column] = cell
    columns = list(dict.fromkeys(column for line in lines.values() for column in line))
    header = [Cell(title) for title in (*corner, *columns)]
    return [header] + [
        [*map(Cell, key), *(line.get(column, EMPTY) for column in columns)]
        for key, line in lines.items()
    ]


class Table:
    """Rows that can be shown in many ways: what inherits defines cells(), or tables() of several.

    `rows` are all numbers; cells are short texts for people.
    """

    if TYPE_CHECKING:  # a field of some tables, computed by others

        @property
        def rows(self) -> list[dict[str, Any]]:
            """All numbers, one JSON-like object a row."""

    def cells(self) -> Cells:
        """Return header and rows as short texts; of several tables those of the first."""
        return self.tables()[0]

    def tables(self) -> list[Cells]:
        """Return all tables, each as header and rows; by default one."""
        return [self.cells()]

    def paper_tables(self) -> list[Cells]:
        """Return the tables as a paper shows them; by default as they are."""
        return self.tables()

    def notes(self) -> list[str]:
        """Return sentences that belong below the table."""
        return []

    def to_json(self) -> str:
        """Return all numbers as a JSON list."""
        return json.dumps(self.rows, ensure_ascii=False, indent=1, default=str)

    def to_csv(self) -> str:
        """Return all numbers as CSV with a header; what is neither number nor text is JSON."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        stream = io.StringIO()
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _flat(value) for name, value in row.items()} for row in self.rows)
        return stream.getvalue()

    def to_markdown(self) -> str:
        """Return the table in Markdown; the best of its kind is bold."""
        return "\n".join(map(_markdown_table, self.tables()))

    def to_latex(self) -> str:
        r"""Return the table in LaTeX (booktabs): the best is bold, the second best underlined.

        `\usepackage{booktabs}` belongs into the document; letters that are not Latin need XeLaTeX
        or LuaLaTeX. A comparison has a column for each pair, P@1 in percent, and a star where the
        difference from the baseline is significant.
        """
        tables = map(_latex_table, self.paper_tables())
        notes = [f"% {_latex_text(note)}\n" for note in self.notes()]
        return "\n\\medskip\n\n".join(tables) + "".join(notes)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return all numbers as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra("A DataFrame", "pandas") from error
        return pandas.DataFrame(self.rows)

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        notes = (f"<p>{escaped(note)}</p>" for note in self.notes())
        return "".join([*map(html_table, self.tables()), *notes])

    def __str__(self) -> str:
        tables = map(text_of_cells, self.tables())
        return "\n".join(["\n\n".join(tables), *self.notes()])


def places(scores: Iterable[float | None], kinds: Sequence[Hashable]) -> list[int | None]:
    """Return 1 for the best scores of each kind, 2 for the second best, None for the others.

    Scores that are shown alike, with three digits, share a place; a score of None has none.
    """
    shown = [None if score is None else round(score, 3) for score in scores]
    of_kind: dict[Hashable, set[float]] = {kind: set() for kind in kinds}
    for kind, score in zip(kinds, shown, strict=True):
        of_kind[kind] |= set() if score is None else {score}
    order = {kind: sorted(known, reverse=True)[:2] for kind, known in of_kind.items()}
    return [
        order[kind].index(score) + 1 if score in order[kind] else None
        for kind, score in zip(kinds, shown, strict=True)
    ]


def text_table(rows: list[list[str]]) -> str:
    """Return rows of texts in columns; on a terminal, they are folded to its width."""
    return text_of_cells([[Cell(text) for text in row] for row in rows])


def text_of_cells(cells: Cells, by: Sequence[int] = ()) -> str:
    """Return header and rows in columns, no wider than the terminal, if there is one.

    Parameters
    ----------
    by
        Columns by which rows are divided into several tables where one would be too wide.
    """
    lines = [[printable(cell.text + cell.after) for cell in line] for line in cells]
    width, natural = terminal_width(), _width(lines)
    if width is None or natural <= width:
        return _columns(lines, natural)
    kinds: dict[tuple[str, ...], Cells] = {}
    for line in cells[1:]:
        kinds.setdefault(tuple(line[at].text for at in by), [cells[0]]).append(line)
    if len(kinds) > 1:
        return "\n".join(map(text_of_cells, kinds.values()))
    header, *body = lines
    values = [{line[at] for line in body} for at in range(len(header))]
    same = [at for at in range(1, len(header)) if len(body) > 1 and len(values[at]) == 1]
    once = ", ".join(f"{header[at]} {body[0][at]}" for at in same if body[0][at])
    rest = [[_on_two_lines(c) for at, c in enumerate(line) if at not in same] for line in cells]
    gap = GAP if _width(rest) <= width else 1
    return "\n".join([*([_columns([[once]], width)] if once else []), _columns(rest, width, gap)])


def _on_two_lines(cell: Cell) -> str:
    return "\n".join(printable(text.strip()) for text in (cell.text, cell.after) if text)


def _width(rows: list[list[str]]) -> int:
    """Return how wide columns are where nothing is folded."""
    longest = (
        max(len(part) for text in column for part in text.split("\n"))
        for column in zip(*rows, strict=True)
    )
    return sum(length + GAP for length in longest) - GAP


def _columns(rows: list[list[str]], width: int, gap: int = GAP) -> str:
    """Return rows in columns that together are no wider than this; long texts are folded."""
    from rich.console import Console
    from rich.table import Table as Columns
    from rich.text import Text

    table = Columns(box=None, pad_edge=False, show_header=False, padding=(0, gap, 0, 0))
    for column in zip(*rows, strict=True):
        longest = max(len(word) for text in column for word in text.split("\n"))
        table.add_column(overflow="fold", no_wrap=longest <= NARROW_COLUMN)
    for row in rows:
        table.add_row(*map(Text, row))
    # Written to a text: rich's own ways to a terminal know nothing of what is printable.
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _flat(value: object) -> object:
    """Return a value as one cell of CSV."""
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def _markdown_table(cells: Cells) -> str:
    """Return header and rows in Markdown; the words of a cell make no HTML, and no link."""
    header, *body = ([_markdown_text(cell) for cell in line] for line in cells)
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in lines) + "\n"


def _markdown_text(cell: Cell) -> str:
    text = (f"**{cell.text}**" if cell.place == 1 else cell.text) + cell.after
    text = re.sub(r"[\\|]|(?<=\])\(", r"\\\g<0>", text.replace("\n", " "))
    return re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")


_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"{{{character}}}" for character in "[*"},  # which mean something after a line
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "\n": " ",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
}


def _latex_text(text: str) -> str:
    """Return a text as LaTeX shows it; letters that are not Latin need XeLaTeX or LuaLaTeX."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return escaped.replace("--", "-{}-").replace("--", "-{}-")  # no dash


def _latex_table(cells: Cells) -> str:
    header, *body = cells
    numbers = [all(line[at].number for line in body) for at in range(len(header))]
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in numbers)}}}",
        r"\toprule",
        _latex_line(header),
        r"\midrule",
        *map(_latex_line, body),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_line(line: Sequence[Cell]) -> str:
    return " & ".join(map(_latex_cell, line)) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = _latex_text(cell.text)
    if cell.place in (1, 2):
        text = rf"\{'textbf' if cell.place == 1 else 'underline'}{{{text}}}"
    return text + _latex_text(cell.after).replace("{*}", "$^{*}$")


def html_table(cells: Cells, identifier: str = "") -> str:
    """Return header and rows in HTML, every text escaped; the best is bold, numbers have class n.

    Parameters
    ----------
    identifier
        The table's id, for a script.
    """
    header, *body = cells
    shown = [[cell for cell in column if cell.text] for column in zip(*body, strict=True)]
    kinds = ['class="n" ' * any(cell.number for cell in column) for column in shown]
    titles = zip(kinds or [""] * len(header), header, strict=True)
    head = "".join(f'<th {kind}scope="col">{escaped(cell.text)}</th>' for kind, cell in titles)
    lines = "".join(f"<tr>{_html_line(line)}</tr>" for line in body)
    named = f' id="{escaped(identifier)}"' if identifier else ""
    inside = f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody>"
    return f'<table class="sortable"{named}>{inside}</table>'


def _html_line(line: Sequence[Cell]) -> str:
    name, parameters = escaped(line[0].text), escaped(line[0].after)
    small = f"<wbr><small>{parameters}</small>" if parameters else ""
    cells = [f'<th scope="row">{name}{small}</th>']
    last = max(at for at, cell in enumerate(line) if cell.text or not cell.number)
    for cell in line[1 : last + 1]:
        text, after = (escaped(text.replace("-", "−") if cell.number else text)
                       for text in (cell.text, cell.after))  # fmt: skip
        if cell.place in (1, 2):
            element = "b" if cell.place == 1 else "u"
            text = f"<{element}>{text}</{element}>"
        kind = ' class="n"' if cell.number else ""
        cells.append(f"<td{kind}>{text}{after and f'<small>{after}</small>'}</td>")
    if last < len(line) - 1 and not line[last].number:  # a reason, and no numbers
        reason = escaped(line[last].text)
        cells[last] = f'<td class="failed" colspan="{len(line) - last}">{reason}</td>'
    return "".join(cells)
