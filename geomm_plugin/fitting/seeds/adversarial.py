"""Pairs by adversarial training: a map whose output a discriminator takes for the target.

    min over W of max over D of   mean log D(x W) + mean log (1 - D(z))

D is a network with two hidden layers that separates mapped source from target words; W is moved
so that it fails, and pulled towards a rotation, W = (1 + beta) W - beta W W'W. After each epoch the
mean CSLS of the best translations says how good W is; the best W is taken. It is unstable: another
`seed` may succeed. Here the game is played on the principal axes of few frequent words: the
published setting, in the comments below, takes hours (docs, "No dictionary?").
Conneau, Lample, Ranzato, Denoyer, Jégou: "Word Translation Without Parallel Data", ICLR 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, missing_extra
from geomm_plugin.factorization import polar
from geomm_plugin.fitting.seeds.icp import principal
from geomm_plugin.fitting.seeds.seed import Seed, frequent, weighted_pairs
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval import best_neighbors, mutual_neighbors

JUDGED_WORDS = 4000  # most frequent words whose translations judge an epoch


@dataclass(kw_only=True, eq=False, repr=False)
class Adversarial(Seed):
    """Train a map against a discriminator of both languages; needs the extra `torch`."""

    name: ClassVar[str] = "adversarial"

    words: Annotated[int, AtLeast(2)] = 2000  # most frequent words; published: 75,000
    axes: Annotated[int, AtLeast(0)] = 25  # principal axes; 0, as published: all dimensions
    hidden: Annotated[int, AtLeast(1)] = 128  # size of both hidden layers; published: 2,048
    epochs: Annotated[int, AtLeast(1)] = 10  # published: 5
    steps: Annotated[int, AtLeast(1)] = 2000  # of the map in an epoch; published: 31,250
    batch: Annotated[int, AtLeast(1)] = 32  # words of each language at a time
    discriminator_steps: Annotated[int, AtLeast(1)] = 1  # for each step of the map; published: 5
    rate: Annotated[float, AtLeast(0)] = 0.1  # of both learners
    decay: Annotated[float, Within(0, 1)] = 0.98  # of the rate, after each epoch
    smoothing: Annotated[float, Within(0, 0.5)] = 0.2  # of the discriminator's labels
    dropout: Annotated[float, Within(0, 1)] = 0.1  # of the discriminator's input
    beta: Annotated[float, AtLeast(0)] = 0.01  # pull towards a rotation; published: 0.001
    seed: Annotated[int, AtLeast(0)] = 0  # of everything that is drawn

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the mutual best by CSLS of the best epoch's map, as a rotation."""
        x, z = (spread(frequent(each, self.words), self.axes) for each in (source, target))
        if x.shape[1] != z.shape[1]:
            raise LanguagesError(
                "Adversarial training maps between spaces of the same number of dimensions; these "
                f"have {x.shape[1]} and {z.shape[1]}. Use another seed, such as gromov_wasserstein."
            )
        rotation = self.train(x, z)
        rows, columns, scores = mutual_neighbors(unit(x @ rotation), unit(z))
        return weighted_pairs(rows, columns, np.maximum(scores, 0))

    def train(self, x: Matrix, z: Matrix) -> Matrix:
        """Return the best map of all epochs, as the nearest rotation."""
        game = Game(self, x, z)
        best, best_score = np.eye(x.shape[1], dtype=np.float32), -np.inf
        with progress.task("Adversarial training", total=self.epochs * self.steps) as advance:
            for _ in range(self.epochs):
                for _ in range(self.steps):
                    game.step()
                    advance(1)
                rotation: Matrix = polar(game.map()).astype(np.float32)
                score = mean_csls(x[:JUDGED_WORDS] @ rotation, z[:JUDGED_WORDS])
                if score > best_score:
                    best, best_score = rotation, score
                game.cool(self.decay)
        return best


class Game:
    """The map, the discriminator and their learners, in torch."""

    def __init__(self, setting: Adversarial, x: Matrix, z: Matrix):
        self.torch = torch = _torch()
        self.setting = setting
        self.random = torch.Generator().manual_seed(setting.seed)
        self.x, self.z = torch.tensor(x), torch.tensor(z)
        size, hidden = x.shape[1], setting.hidden
        nn = torch.nn
        self.W = nn.Parameter(torch.eye(size))
        with torch.random.fork_rng():
            torch.manual_seed(setting.seed)
            self.discriminator = nn.Sequential(
                nn.Linear(size, hidden),
                nn.LeakyReLU(0.2),
                nn.Linear(hidden, hidden),
                nn.LeakyReLU(0.2),
                nn.Linear(hidden, 1),
            )
        self.learners = [
            torch.optim.SGD(self.discriminator.parameters(), lr=setting.rate),
            torch.optim.SGD([self.W], lr=setting.rate),
        ]
        is_source = torch.arange(2 * setting.batch) < setting.batch
        self.labels = torch.where(is_source, 1 - setting.smoothing, setting.smoothing)

    def step(self) -> None:
        """Let the discriminator learn for some steps, then the map for one."""
        teach, move = self.learners
        for _ in range(self.setting.discriminator_steps):
            with self.torch.no_grad():
                words = self._draw()
            self._learn(teach, words, self.labels)
        self._learn(move, self._draw(), 1 - self.labels)
        with self.torch.no_grad():
            beta, W = self.setting.beta, self.W
            W.copy_((1 + beta) * W - beta * (W @ (W.T @ W)))

    def map(self) -> Matrix:
        """Return W as it is."""
        W: Matrix = self.W.detach().numpy().copy()
        return W

    def cool(self, decay: float) -> None:
        """Lower the rates of both learners."""
        for learner in self.learners:
            for group in learner.param_groups:
                group["lr"] *= decay

    def _draw(self) -> Any:
        """Return mapped source words and target words, some numbers of which are dropped."""
        torch, count = self.torch, self.setting.batch
        rows = torch.randint(len(self.x), (count,), generator=self.random)
        columns = torch.randint(len(self.z), (count,), generator=self.random)
        words = torch.cat([self.x[rows] @ self.W, self.z[columns]])
        share = self.setting.dropout
        if not 0 < share < 1:
            return words
        kept = torch.rand(words.shape, generator=self.random) >= share
        return words * kept / (1 - share)

    def _learn(self, learner: Any, words: Any, labels: Any) -> None:
        guesses = self.discriminator(words).squeeze(1)
        loss = self.torch.nn.functional.binary_cross_entropy_with_logits(guesses, labels)
        self.discriminator.zero_grad()
        self.W.grad = None
        loss.backward()
        learner.step()


def spread(vectors: Matrix, axes: int) -> Matrix:
    """Return rows on their widest axes (0: as they are), numbers of mean square 1.

    Each axis is turned so that its third moment is not negative: principal axes have no sign.
    """
    rows = unit(vectors).astype(np.float32)
    if axes:
        rows = principal(rows, axes)
        rows = rows * np.where((rows**3).mean(axis=0) < 0, -1, 1).astype(np.float32)
    size = float(np.sqrt((rows**2).mean()))
    return rows / np.float32(size) if size > 0 else rows


def mean_csls(mapped: Matrix, target: Matrix) -> float:
    """Return the mean CSLS of each word's best translation: how good maps are, by themselves."""
    return float(best_neighbors(unit(mapped), unit(target)).forth_scores.mean())


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise missing_extra("Adversarial training", "torch") from None
    return torch
