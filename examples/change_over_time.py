"""Find the words whose use changed between two times, with their neighbours before and after.

The package comes with English vectors of one time only, so the change is planted, as in controlled
tests of the literature: the second time is a turned copy with noise, more of it the rarer a word
is (as when vectors are trained on another corpus), in which 40 words have moved half-way to where
another of them was. A plain distance finds the noisiest words as well; the score, which compares
words of similar frequency, finds those that were moved.

    $ python examples/change_over_time.py
    democratic    73.2   democracy, democratisation, legitimacy  ->  democracy, hardly, politics
    points        60.6   observations, briefly, firstly  ->  elements, iraq, two
    itself        53.1   its, weakness, incapable  ->  considered, warming, pollution
    war           52.4   wars, bloody, terror  ->  former, bases, director
    supporting    45.9   promoting, support, aimed  ->  colleagues, spoken, speak
    employment    44.9   flexicurity, social, jobs  ->  indicators, policies, social
    by score     39 of the 40 that moved are the first 40
    by distance  15 of the 40 that moved are the first 40
    by local     25 of the 40 that moved are the first 40
"""

import numpy as np

from geomm_plugin import Embeddings, drift
from geomm_plugin.demo import load_demo
from geomm_plugin.normalize import unit

PLANTED = 40


def another_time(now, random):
    """Return the same words at another time, and those that moved."""
    vectors = unit(now.vectors)
    words = 300 + random.choice(4000, PLANTED, replace=False)
    vectors[words] = unit(vectors[words] + vectors[np.roll(words, 1)])
    noise = unit(random.normal(size=vectors.shape)) * np.linspace(0.3, 1.2, len(now))[:, None]
    turn, _ = np.linalg.qr(random.normal(size=(now.dimension, now.dimension)))
    return Embeddings(now.words, (vectors + noise) @ turn), {now.words[row] for row in words}


def main():
    """Print the words that moved most, and how many of those planted each measure finds."""
    old = load_demo().embeddings["en"]
    new, moved = another_time(old, np.random.default_rng(0))
    for word in drift(old, new, top=6, neighbors=3).words:
        before, after = ", ".join(word.neighbors_old), ", ".join(word.neighbors_new)
        print(f"{word.word:<14}{word.score:4.1f}   {before}  ->  {after}")
    for by in ("score", "distance", "local"):
        first = {word.word for word in drift(old, new, top=PLANTED, by=by).words}
        count = len(first & moved)
        print(f"by {by:<10}{count:2d} of the {PLANTED} that moved are the first {PLANTED}")


if __name__ == "__main__":
    main()
