"""Whiten both sides, rotate, color again: W = R (Z'Z)^(1/2), R a rotation of whitened rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin import HubMapper, hookimpl


@dataclass(kw_only=True, eq=False, repr=False)
class Whitening(HubMapper):
    """Rotate between whitened spaces, then give the target's spread back (an example)."""

    name: ClassVar[str] = "whitening"

    ridge: float = 1.0  # keeps the inverse roots small where there are few pairs

    def learn_pair(self, x, z):
        whiten_x, whiten_z = (self.power(v.T @ v, -0.5) for v in (x, z))
        p, _, v = np.linalg.svd(whiten_x @ x.T @ z @ whiten_z)
        return whiten_x @ p @ v @ self.power(z.T @ z, 0.5)

    def power(self, square, exponent):
        values, basis = np.linalg.eigh(square + self.ridge * np.eye(len(square)))
        return (basis * np.maximum(values, self.ridge or 1e-9) ** exponent) @ basis.T


@hookimpl
def register_mappers():
    return [Whitening]
