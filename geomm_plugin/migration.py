"""[evaluate] An old index under a new embedding model, from rows that both models embedded.

Either all old rows move to the new model, or new queries move to the old index, which is left
alone. Both are an `IntoMap` into raw coordinates; with unit(x) = x / |x|, a row x becomes

    y = unit((unit(x) - mean_in) W) length + mean_out

A fifth of the pairs chooses the mapper and its lambda. Each other fifth judges: its new rows are
queries, and its m rows the index, moved by a map that was fitted without them. Of the five rows
nearest to a query by the new model, which full re-embedding finds, a share is among the five
nearest of what was moved. Such shares fall as an index grows. If both models' similarities of a
query to the rows are Gaussian with correlation rho, then of the best part p of the rows, the best
part q by the other model holds

    share(rho, p, q) = mean of Phi((rho u + Phi^-1(q)) / sqrt(1 - rho^2)),   u in the upper part p

The share among m rows tells rho (p = q = 5/m), and rho the recall among N rows (p = q = 10/N), and
if the 100 best are embedded anew (q = 100/N): at rho = 0 it is chance, at 1 everything.
Tails of real similarities are heavier, so that this is cautious. A threshold on cosines of old rows
becomes the cosine that the same share of pairs exceeds after the move.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Vector, slices
from geomm_plugin.dictionary import Dictionary, identical_words, shuffled
from geomm_plugin.embeddings import Embeddings, as_embeddings, check_rows
from geomm_plugin.errors import DictionaryError, FileError, ParameterError
from geomm_plugin.evaluation.drift import nearest_others
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.evaluation.significance import bootstrap_interval
from geomm_plugin.evaluation.table import Cell, Cells, Table, cell_of
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_files
from geomm_plugin.fitting.regularized import Regularized
from geomm_plugin.mapper import IntoMap, Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import choice_text
from geomm_plugin.retrieval import Cosine, UnitRows
from geomm_plugin.storage import is_card, is_saved, mapper_files, signed

UNIT = ":normalize=unit"  # with which a rotation of the old model is recovered exactly
MAPPERS = (f"procrustes{UNIT}", f"regression{UNIT}", "procrustes", "regression", "geomm")
STEPS = (("unit",), ("unit", "center"))  # the normalizations that an adapter can write down
LEAST_PAIRS, MOST_JUDGES = 100, 20_000  # pairs that choose and judge; others are learnt from
PARTS = 5  # of these pairs; the first one chooses
LEARNT_FROM = (4, 2, 1)  # the pairs divided by these show how recall grows
BEST, ANEW = 10, 100  # rows to be found, and rows that may be embedded anew for a query
NEAREST = (
    5  # rows to be found in a part: of fewer, chance decides; more are less near than BEST are
)
SHARES = (0.01, 0.001)  # of pairs above the thresholds that are shown if none is asked about
FAR = 0.01  # share of paired rows that are as far from all others as a row that is flagged
OLD, NEW = "old", "new"  # what the mappers call the two models
KEPT, INDEX, QUERIES = "old model kept", "index to new", "queries to old"
FILES = {INDEX: "adapter.npz", QUERIES: "queries.npz"}
CARD = """# From an old embedding model to a new one

```python
import numpy as np
adapter = np.load("adapter.npz")  # queries.npz moves new queries to the old index
x = x / np.linalg.norm(x, axis=1, keepdims=True)
y = (x - adapter["mean_in"]) @ adapter["W"]
y = y / np.linalg.norm(y, axis=1, keepdims=True) * adapter["length"] + adapter["mean_out"]
```

{}
{}
"""

Way: TypeAlias = tuple[str, str]  # whose rows move, and whose coordinates they get


@dataclass(frozen=True, eq=False)
class Migration(Table):
    """What the old model finds, what moved rows find, and what moves them."""

    rows: list[dict[str, Any]]  # the old model, then both ways with more and more pairs
    mappers: dict[str, Mapper]  # by way, fitted to all pairs
    adapters: dict[str, dict[str, Matrix]]  # by way: W, mean_in, mean_out, length
    far: tuple[str, ...]  # ids of old rows without a pair that lie far from all pairs
    pairs: int
    index: int  # rows of the old index
    judges: int  # rows in each part that judges

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        limits = list(self.rows[0]["thresholds"])
        header = ["", "pairs", "recall@10", "100 best embedded anew"]
        cells = [[Cell(title) for title in header + [f"{limit} is now" for limit in limits]]]
        for row in self.rows:
            shown = [Cell(row["way"]), cell_of(row["pairs"])]
            for name in ("recall@10", "anew"):
                ends = f" [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]"
                shown.append(Cell(f"{row[name]:.3f}", after=ends))
            cells.append(shown + [cell_of(row["thresholds"].get(at), ".2f") for at in limits])
        return cells

    def notes(self) -> list[str]:
        """Return the verdict."""
        notes = [
            f"{self.pairs:,} of {self.index:,} old rows have a new one. What is found was measured "
            f"in indexes of {self.judges:,} rows held out, and is estimated from there for all."
        ]
        subjects = {KEPT: "the old model", INDEX: "the moved index", QUERIES: "a moved query"}
        for way, row in {row["way"]: row for row in self.rows}.items():
            ten, low, high = (10 * row[f"recall@10{end}"] for end in ("", "_low", "_high"))
            by = f" ({row['mapper']})" if row["mapper"] else ""
            notes.append(
                f"Of the ten nearest that full re-embedding would find among {self.index:,} rows, "
                f"{subjects[way]}{by} finds {ten:.1f} (95 % interval {low:.1f} to {high:.1f}), and "
                f"{10 * row['anew']:.1f} if the 100 best are embedded anew."
            )
            if low <= 1.01 * 10 * BEST / self.index:
                notes[-1] += " That is within chance: check that an id means the same in both."
        half, whole = [row for row in self.rows if row["way"] == INDEX][-2:]
        notes.append(
            f"With {whole['pairs']:,} pairs instead of {half['pairs']:,}, the moved index finds "
            f"{10 * (whole['recall@10'] - half['recall@10']):.1f} more. Where it finds too little, "
            "embed everything anew: no map replaces that."
        )
        if rest := self.index - self.pairs:
            notes.append(
                f"{len(self.far):,} of {rest:,} rows without a pair lie farther from all pairs "
                f"than {1 - FAR:.0%} of the pairs do from each other: embed these first."
            )
        return notes

    def save(self, path: str | Path) -> None:
        """Write a folder: both adapters, the mapper of the index, far.json and README.md."""
        notes = "\n".join(f"- {note}" for note in self.notes())
        card = CARD.format(self.to_markdown(), notes).encode("utf-8", "backslashreplace")
        files = {"README.md": signed(card), "far.json": json.dumps(self.far, indent=0).encode()}
        for way, name in FILES.items():
            np.savez(stream := io.BytesIO(), **self.adapters[way])  # type: ignore[arg-type]
            files[name] = stream.getvalue()
        there = [each for name in files if (each := Path(path) / name).exists()]
        if there and not is_card(Path(path) / "README.md"):  # which is the first of them
            raise FileError(f"{there[0]} is not as geomm wrote it. Rename it, to keep it.")
        with atomic_files(Path(path), replaces=lambda n: is_saved(Path(path) / n)) as part:
            disk.make_folder(part)
            for name, content in (files | mapper_files(self.mappers[INDEX])).items():
                disk.write_file(part / name, content)


def migrate(
    old: object,
    new: object,
    mappers: str | Mapper | Iterable[str | Mapper] = MAPPERS,
    *,
    thresholds: Sequence[float] = (),
    seed: int = 0,
) -> Migration:
    """Learn to move an old index to a new embedding model, and say what that finds.

    Parameters
    ----------
    old, new
        Rows by id, which stands where words do: the index, and some of its rows by the new model.
    mappers
        The best on held-out pairs is taken for each way, with its best lambda.
    thresholds
        Cosines of old rows that decide something; by default those that 1 and 0.1 % exceed.
    seed
        Of the division of the pairs.
    """
    if not all(-1 <= limit <= 1 for limit in thresholds):  # nor NaN
        raise ParameterError(f"Thresholds are cosines, from -1 to 1; they are {[*thresholds]}.")
    index = as_embeddings(old).distinct()
    pairs = _Pairs(index, as_embeddings(new), seed)
    candidates = [one for mapper in choose_mappers(mappers) for one in _each_lambda(mapper)]
    if not candidates:
        raise ParameterError("There is no mapper to choose from. Name at least one.")
    chooser, *judges = pairs.parts
    shares, cosines = pairs.judge((OLD, OLD), judges)
    limits = list(thresholds) or np.quantile(cosines, 1 - np.array(SHARES)).round(2).tolist()
    becomes = {f"{limit:g}": float(limit) for limit in limits}
    levels = [float((cosines < limit).mean()) for limit in becomes.values()]
    part, size = len(chooser), len(index)
    kept = {"way": KEPT, "pairs": None, "mapper": ""}
    rows = [kept | _recall(shares, part, size) | {"thresholds": becomes}]
    fitted, moves = {}, {}
    total = len(FILES) * (len(candidates) + len(LEARNT_FROM))
    with progress.task("Choosing and judging maps", total, "maps") as advance:
        for name, way in ((INDEX, (OLD, NEW)), (QUERIES, (NEW, OLD))):
            scores = []
            for mapper in candidates:
                scores.append(pairs.judge(way, [chooser], mapper)[0].mean())
                advance(1, f"{choice_text(mapper)}: {scores[-1]:.3f}")
            best = candidates[int(np.argmax(scores))]
            for count in ((len(pairs.ids) - part) // divisor for divisor in LEARNT_FROM):
                shares, cosines = pairs.judge(way, judges, best, count)
                now = np.quantile(cosines, levels).tolist()
                row = {"way": name, "pairs": count, "mapper": choice_text(best)}
                thresholds_now = {"thresholds": dict(zip(becomes, now, strict=True))}
                rows.append(row | _recall(shares, part, size) | thresholds_now)
                advance(1)
            fitted[name], moves[name] = pairs.fit(best, way, np.arange(len(pairs.ids)))
    adapters = {name: _adapter(move) for name, move in moves.items()}
    far = _far(index, pairs, moves[INDEX])
    return Migration(rows, fitted, adapters, far, len(pairs.ids), size, part)


class _Pairs:
    """The rows that both models have, in an order drawn by chance."""

    def __init__(self, old: Embeddings, new: Embeddings, seed: int):
        for name, model in ((OLD, old), (NEW, new)):
            check_rows(name, model)
        self.ids = shuffled((word for word, _ in identical_words(old, new)), seed)
        if len(self.ids) < LEAST_PAIRS:
            raise DictionaryError(
                f"The {len(old):,} old rows, such as {old.words[:1]}, and the {len(new):,} new "
                f"ones, such as {new.words[:1]}, share {len(self.ids)} ids; a verdict needs "
                f"{LEAST_PAIRS}. Check what the ids are, or embed more of the old rows."
            )
        self.rows = {
            name: model.rows.take(np.array([model.row_of[word] for word in self.ids]))
            for name, model in ((OLD, old), (NEW, new))
        }
        if np.array_equal(self.rows[OLD], self.rows[NEW]):
            raise ParameterError(
                "The old and the new rows are the same vectors, so there is nothing to move. Give "
                "the new rows as the new model embeds them."
            )
        self.parts = np.array_split(np.arange(min(len(self.ids), MOST_JUDGES)), PARTS)

    def fit(self, mapper: Mapper, way: Way, chosen: RowIndices) -> tuple[Mapper, IntoMap]:
        """Fit a mapper to some of the pairs."""
        words = [self.ids[at] for at in chosen.tolist()]
        models = {name: Embeddings(words, self.rows[name][chosen]) for name in way}
        fitted = mapper.clone().fit(models, {way: Dictionary(zip(words, words, strict=True))})
        move = fitted.maps_into(way[1], models)[way[0]]
        if not isinstance(move, IntoMap) or move.normalizer.steps not in STEPS:
            raise ParameterError(
                "An adapter is one matrix between rows normalized by unit, or by unit,center; "
                f"{choice_text(mapper)} makes another map. Set its normalize to one of these."
            )
        return fitted, move

    def judge(
        self,
        way: Way,
        parts: Sequence[RowIndices],
        mapper: Mapper | None = None,
        count: int | None = None,
    ) -> tuple[Vector, Vector]:
        """Return the share that each query finds in its part, and cosines of queries with rows.

        Rows are moved by a map from some pairs of other parts, or stay where they are.
        """
        shares, cosines = [], []
        for part in parts:
            moved, there, new = (self.rows[name][part] for name in (*way, NEW))
            if mapper is not None:
                others = np.delete(np.arange(len(self.ids)), part)
                moved = self.fit(mapper, way, others[:count])[1](moved)
            queries, index = (there, moved) if way[0] == OLD else (moved, there)
            truth, found = _nearest(new, new), _nearest(queries, index)
            shares.append((truth[:, :, None] == found[:, None]).any(axis=2).mean(axis=1))
            x, z = unit(queries[:50]), unit(index)
            cosines.append((x @ z.T)[~np.eye(len(x), len(z), dtype=bool)])
        return np.concatenate(shares), np.concatenate(cosines)


def _recall(shares: Vector, judges: int, size: int) -> dict[str, Any]:
    """Return what is found in an index of some size, alone and if the best are embedded anew."""
    rho = np.tanh(np.linspace(0, 12, 1500))
    ends = bootstrap_interval([shares])
    measured = [shares.mean(), ends.low, ends.high]
    rho = np.interp(measured, _share(rho, NEAREST / judges, NEAREST / judges), rho)
    row: dict[str, Any] = {}
    for name, count in (("recall@10", BEST), ("anew", ANEW)):
        found = _share(rho, BEST / size, count / size).tolist()
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))
    return row


def _share(rho: Vector, best: float, found: float) -> Vector:
    """Return what share of the best by one Gaussian score is among the best by another."""
    from scipy.special import ndtr, ndtri

    u = -ndtri(best * (np.arange(500) + 0.5) / 500)
    above = (np.multiply.outer(rho, u) + ndtri(found)) / np.sqrt(1 - rho[:, None] ** 2)
    share: Vector = ndtr(above).mean(axis=1)
    return share


def _each_lambda(mapper: Mapper) -> list[Mapper]:
    """Return the mapper with each lambda that it would choose from, or itself."""
    if not isinstance(mapper, Regularized) or mapper.regularization != "auto":
        return [mapper]
    return [mapper.clone().set_params(regularization=value) for value in mapper.candidates]


def _unit_rows(rows: Matrix) -> UnitRows:
    return UnitRows(unit(rows).astype(np.float32))


def _nearest(queries: Matrix, index: Matrix) -> RowIndices:
    """Return the rows of an index nearest to each query, but for its own."""
    x, z = _unit_rows(queries), _unit_rows(index)
    return nearest_others(Cosine().index(x, z), x, np.arange(len(x)), NEAREST)


def _adapter(move: IntoMap) -> dict[str, Matrix]:
    """Write a map down as arrays; a mean that was not subtracted is zero."""
    sides = zip((move.source, move.target), move.matrix.shape, strict=True)
    mean_in, mean_out = (move.normalizer.learnt[n].get(1, np.zeros(size)) for n, size in sides)
    before, after = np.array(move.lengths[0]), np.array(move.lengths[-1])
    own = {"W": move.matrix, "mean_in": mean_in, "mean_out": mean_out * before}
    own["length"] = after * before
    return {name: array.astype(np.float32) for name, array in own.items()}


def _far(old: Embeddings, pairs: _Pairs, move: IntoMap) -> tuple[str, ...]:
    """Return the ids without a pair whose nearest pair is farther than that of most pairs."""
    seen = _unit_rows(move.normalizer.transform(OLD, pairs.rows[OLD][:MOST_JUDGES]))
    index = Cosine().index(seen, seen)
    limit = np.quantile(index.search(seen, 2).scores[:, 1], FAR)
    rest = np.delete(np.arange(len(old)), [old.row_of[word] for word in pairs.ids])
    far: list[str] = []
    for part in slices(len(rest), BLOCK_ROWS):
        rows = move.normalizer.transform(OLD, old.rows.take(rest[part]))
        is_far = index.search(_unit_rows(rows), 1).scores[:, 0] < limit
        far += [old.words[row] for row in rest[part][is_far]]
    return tuple(far)
