"""Swap the method in a gensim script: one import line, then one word.

The script translates English into Italian with gensim's TranslationMatrix. The drop-in takes its
place with the same calls; `mapper=` chooses the method, and `gc=1` ranks by CSLS.

    $ python examples/swap_mappers_in_gensim.py
    P@1, en-it             gc=0   gc=1
    gensim                0.875  0.878
    procrustes            0.897  0.918
    regression            0.895  0.915
    geomm                 0.885  0.903

    One space for both, as KeyedVectors:
    freedom    libertà 0.89  espressione 0.78  pluralismo 0.62
    fisheries  pesca 0.90  stock 0.74  ittici 0.71
"""

import warnings

from gensim.models import translation_matrix

from geomm_adapters import TranslationMatrix, align_keyedvectors, to_keyedvectors
from geomm_plugin.demo import load_demo


def precision(model, gold, **options):
    """Return P@1: how many words have a right translation in the first place."""
    answers = model.translate(list(gold), topn=1, **options)
    return sum(answers[word][0] in right for word, right in gold.items()) / len(gold)


def main():
    """Run gensim's own, then every method of interest in its place."""
    warnings.simplefilter("ignore", UserWarning)  # gensim warns of each default
    demo = load_demo()
    # In your script these come from KeyedVectors.load_word2vec_format(...).
    english, italian = (to_keyedvectors(demo.embeddings[name]) for name in ("en", "it"))
    word_pairs = demo.train["en", "it"]
    gold = {}
    for word, translation in demo.test["en", "it"]:
        gold.setdefault(word, set()).add(translation)

    print("P@1, en-it             gc=0   gc=1")
    model = translation_matrix.TranslationMatrix(english, italian, word_pairs, random_state=0)
    scores = [precision(model, gold, gc=gc, sample_num=1000) for gc in (0, 1)]
    print(f"{'gensim':<20}", *(f"{score:6.3f}" for score in scores))
    for name in ("procrustes", "regression", "geomm"):
        model = TranslationMatrix(english, italian, word_pairs, mapper=name)
        scores = [precision(model, gold, gc=gc, sample_num=1000) for gc in (0, 1)]
        print(f"{name:<20}", *(f"{score:6.3f}" for score in scores))

    print("\nOne space for both, as KeyedVectors:")
    aligned = align_keyedvectors({"en": english, "it": italian}, word_pairs, mapper="geomm")
    for word in ("freedom", "fisheries"):
        found = aligned["it"].similar_by_vector(aligned["en"][word], topn=3)
        print(f"{word:<10}", "  ".join(f"{answer} {cosine:.2f}" for answer, cosine in found))


if __name__ == "__main__":
    main()
