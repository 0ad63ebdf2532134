"""Three languages in one space: a pair without a dictionary is translated through a third.

There is a dictionary for English-Spanish and one for English-Italian, none for Spanish-Italian.
One-hop translation compares three ways: compose two bilingual maps, translate twice, or learn the
space of all languages at once.

    $ python examples/many_languages.py
    agua acqua idriche
    ciudadanos cittadini europei
    pesca pesca tonno
    1538 Spanish and Italian words are each other's best translation
    method       mapper       es-en-it, P@1 (coverage 1.00)
    composition  procrustes   0.970
    composition  geomm        0.967
    pipeline     procrustes   0.720
    pipeline     geomm        0.728
    joint        geomm_multi  0.967
"""

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.one_hop import one_hop


def main():
    """Fit the languages jointly, translate between any two, and compare ways through a pivot."""
    demo = load_demo()
    mapper = get_mapper("geomm_multi").fit(demo.embeddings, demo.train)
    space = mapper.map(demo.embeddings)
    for word in ("agua", "ciudadanos", "pesca"):
        print(word, *(found for found, _ in space.translate(word, "es", "it", k=2)))

    pairs = space.dictionary("es", "it", max_words=2000)
    print(f"{len(pairs)} Spanish and Italian words are each other's best translation")

    test = {("es", "it"): demo.test["es", "it"]}
    print(one_hop(demo.embeddings, demo.train, test, mappers=["procrustes", "geomm", mapper]))


if __name__ == "__main__":
    main()
