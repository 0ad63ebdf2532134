"""Whiten both sides, rotate, color again: X'X = L L', Z'Z = K K', W = L'^-1 R K'."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin import HubMapper, hookimpl


@dataclass(kw_only=True, eq=False, repr=False)
class Whitening(HubMapper):
    """Rotate between whitened spaces, then give the target's spread back (an example)."""

    name: ClassVar[str] = "whitening"
    ridge: float = 1.0  # keeps the inverses small where there are few pairs

    def learn_pair(self, x, z):
        L, K = (np.linalg.cholesky(v.T @ v + self.ridge * np.eye(v.shape[1])) for v in (x, z))
        p, _, v = np.linalg.svd(np.linalg.solve(L, np.linalg.solve(K, z.T @ x).T), False)
        return np.linalg.solve(L.T, p @ v) @ K.T


@hookimpl
def register_mappers():
    return [Whitening]
