"""A language without a dictionary.

`geomm_unsup` starts from nothing but the shape of the two clouds and the order of frequency.
Each round fits maps to the pairs that the last maps found.
"""

# %%
import matplotlib.pyplot as plt

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.demo import load_demo

demo = load_demo()
pair = ("en", "it")
languages = {language: demo.embeddings[language] for language in pair}
mapper = get_mapper("geomm_unsup").fit(languages, {})
print("started from", mapper.report_.seeds)
print("confirmed: recover", mapper.report_.recover, "witnessed", mapper.report_.witnessed)
space = mapper.map(languages)
print(space.translate("president", *pair, k=3))

# %%
# Pairs grow round by round, and are surer of themselves.
rounds = [each for each in mapper.report_.rounds if each.mean_csls is not None]
figure, axis = plt.subplots(figsize=(5, 3.4))
axis.plot(range(1, len(rounds) + 1), [each.pairs_induced for each in rounds], "o-", color="C0")
axis.set(xlabel="round", ylabel="pairs found", xticks=range(1, len(rounds) + 1))
axis.yaxis.label.set_color("C0")
sureness = axis.twinx()
sureness.plot(range(1, len(rounds) + 1), [each.mean_csls for each in rounds], "s--", color="C1")
sureness.set(ylabel="their mean CSLS")
sureness.yaxis.label.set_color("C1")
plt.show()

# %%
# How much is a dictionary worth here?
for name, dictionaries in (("geomm_unsup", {}), ("geomm_plus", {pair: demo.train[pair]})):
    own = get_mapper(name).fit(languages, dictionaries).map(languages)
    print(f"{name:<12} P@1 {evaluate(own, *pair, demo.test[pair]).scores['p@1']:.3f}")
