"""Dictionary size against P@1.

A learning curve: fit to more and more pairs of the dictionary, score on the same test words.
Self-learning, which `geomm_plus` begins by itself, needs a few dozen.
"""

# %%
import matplotlib.pyplot as plt

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.demo import load_demo

demo = load_demo()
pair = ("en", "it")
languages = {language: demo.embeddings[language] for language in pair}
train, test = list(demo.train[pair]), demo.test[pair]
sizes = (25, 50, 100, 200, 400, 800, len(train))

# %%
figure, axis = plt.subplots(figsize=(5, 3.6))
for name in ("geomm_plus", "procrustes", "geomm"):
    scores = []
    for size in sizes:
        space = get_mapper(name).fit(languages, {pair: train[:size]}).map(languages)
        scores.append(evaluate(space, *pair, test, metrics=["p@1"]).scores["p@1"])
    axis.semilogx(sizes, scores, "o-", label=name)
    print(f"{name:<11}", *(f"{score:.2f}" for score in scores))
axis.set(xlabel="pairs in the dictionary", ylabel="P@1, en-it", xticks=sizes, xticklabels=sizes)
axis.minorticks_off()
axis.legend()
plt.show()

# %%
# With files and intervals it is one command: `geomm plot learning en=en.vec it=it.vec -d
# en-it=train.txt -t en-it=test.txt -o curve.svg`.
