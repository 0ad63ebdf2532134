"""Your own mapper.

A mapper is a class with one method, `learn_pair`: rows of translations in, a matrix out. It is
compared, saved and exported like every other one.
"""

# %%
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import HubMapper, compare
from geomm_plugin.demo import load_demo
from geomm_plugin.testing import check_mapper


@dataclass(kw_only=True, eq=False, repr=False)
class Softened(HubMapper):
    """W = U S^power V' with X'Z = U S V': a rotation for power = 0, all of the covariance for 1."""

    name: ClassVar[str] = "softened"
    power: float = 0.5

    def learn_pair(self, x, z):
        u, s, v = np.linalg.svd(x.T @ z)
        return (u * s**self.power) @ v


check_mapper(Softened)  # the contract that every mapper keeps

# %%
# Is it better than a rotation? Differences on the same test words, with 95 % intervals.
demo = load_demo()
pair = ("en", "es")
found = compare(
    ["procrustes", *(Softened(power=power) for power in (0.1, 0.25, 0.5, 1.0)), "geomm"],
    {language: demo.embeddings[language] for language in pair},
    {pair: demo.train[pair]},
    {pair: demo.test[pair]},
)
rows = [row for row in found.rows if row["difference"] is not None]
figure, axis = plt.subplots(figsize=(5, 2.8))
middle = np.array([row["difference"] for row in rows])
ends = np.array([(row["difference_low"], row["difference_high"]) for row in rows]).T
axis.errorbar(
    middle, [row["mapper"] for row in rows], xerr=np.abs(ends - middle), fmt="o", capsize=3
)
axis.axvline(0, color="gray", linewidth=0.8)
axis.invert_yaxis()
axis.set(xlabel="P@1 less that of procrustes, en-es")
figure.tight_layout()
plt.show()
