"""Mappers as scikit-learn transformers: paired rows in, one space out; imports scikit-learn.

    pipeline = make_pipeline(StandardScaler(), MapperTransformer(get_mapper("geomm")))
    pipeline.fit(X, y)                # row i of X is the translation of row i of y
    GridSearchCV(pipeline, {"mappertransformer__mapper__regularization": [1, 10, 100]})

The mappers themselves need no adapter: `clone`, `get_params` and `set_params` work on them as they
are. This one is for those who hold arrays of paired rows, and not words and dictionaries.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval, get_mapper
from geomm_plugin.retrieval import Retrieval

SOURCE, TARGET = "x", "y"
_FLOATS = (np.float32, np.float64)


class MapperTransformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Learn from paired rows to map both sides into one space.

    Parameters
    ----------
    mapper
        A registered name, or a mapper, whose parameters are then `mapper__regularization` etc. A
        clone of it is fitted; the mapper itself does not change.
    retrieval
        What score() ranks by: a registered name, or an object such as CSLS(k=5).

    Attributes
    ----------
    mapper_
        The fitted mapper; it calls the two sides "x" and "y".
    """

    def __init__(self, mapper: str | Mapper = "geomm", retrieval: str | Retrieval = "cosine"):
        self.mapper = mapper
        self.retrieval = retrieval

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (one row a word) and y (the rows of their translations)."""
        rows, targets = validate_data(
            self, X, y, multi_output=True, dtype=_FLOATS, ensure_min_samples=2
        )
        targets = self._check_targets(targets)
        self.n_target_features_in_ = targets.shape[1]
        names = [str(number) for number in range(len(rows))]
        mapper = get_mapper(self.mapper) if isinstance(self.mapper, str) else clone(self.mapper)
        self.mapper_: Mapper = mapper.fit(
            {SOURCE: Embeddings(names, rows), TARGET: Embeddings(names, targets)},
            {(SOURCE, TARGET): zip(names, names, strict=True)},
        )
        self._n_features_out = self.mapper_.transform(SOURCE, rows[:1]).shape[1]
        return self

    def transform(self, X: Any) -> Matrix:
        """Map rows with the columns of X, the source side."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=_FLOATS)
        return self.mapper_.transform(SOURCE, rows)

    def transform_target(self, y: Any) -> Matrix:
        """Map rows with the columns of y, the target side, into the same space."""
        check_is_fitted(self)
        return self.mapper_.transform(TARGET, self._check_targets(y))

    def score(self, X: Any, y: Any) -> float:
        """Return the share of rows of X whose best row of y is their own (P@1)."""
        queries = unit(self.transform(X).astype(np.float32))
        targets = unit(self.transform_target(y).astype(np.float32))
        own = list(np.arange(len(queries))[:, None])
        ranks = as_retrieval(self.retrieval).index(queries, targets).ranks(queries, own)
        return float(np.mean(ranks == 1))

    def _check_targets(self, y: Any) -> Matrix:
        rows: Matrix = check_array(y, ensure_2d=False, dtype=_FLOATS, input_name="y")
        rows = rows[:, None] if rows.ndim == 1 else rows
        known = getattr(self, "n_target_features_in_", rows.shape[1])
        if rows.shape[1] != known and hasattr(self, "mapper_"):
            raise ValueError(f"y had {known} columns in fit; it has {rows.shape[1]}.")
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
