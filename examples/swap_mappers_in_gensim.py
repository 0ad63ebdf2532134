"""Swap the method in a gensim script: one import line, then one word.

The script translates English into Italian with gensim's TranslationMatrix. The drop-in takes its
place with the same calls; `mapper=` chooses the method, and `gc=1` ranks by CSLS. Files
of your own follow the name of the script: en.vec it.vec train.txt test.txt.

    $ python examples/swap_mappers_in_gensim.py
    P@1, en-it             gc=0   gc=1
    gensim                0.875  0.885
    procrustes            0.897  0.903
    geomm                 0.885  0.905
    geomm_plus            0.902  0.912

    One space for both, as KeyedVectors:
    freedom    libertà 0.89  espressione 0.78  pluralismo 0.62
    fisheries  pesca 0.90  stock 0.74  ittici 0.71
"""

import sys
import warnings

from gensim.models import KeyedVectors, translation_matrix

from geomm_adapters import TranslationMatrix, align_keyedvectors, to_keyedvectors
from geomm_plugin import read_dictionary
from geomm_plugin.demo import load_demo


def precision(model, gold, **options):
    """Return P@1: how many words have a right translation in the first place."""
    answers = model.translate(list(gold), topn=1, **options)
    return sum(answers[word][0] in right for word, right in gold.items()) / len(gold)


def data():
    """Return KeyedVectors of both languages, pairs to learn from, and pairs to test on."""
    if len(sys.argv) > 1:
        both = [KeyedVectors.load_word2vec_format(path) for path in sys.argv[1:3]]
        return *both, *(read_dictionary(path) for path in sys.argv[3:5])
    demo = load_demo()
    both = (to_keyedvectors(demo.embeddings[name]) for name in ("en", "it"))
    return *both, demo.train["en", "it"], demo.test["en", "it"]


def main():
    """Run gensim's own, then every method of interest in its place."""
    warnings.simplefilter("ignore", UserWarning)  # gensim warns of each default
    english, italian, word_pairs, test = data()
    word_pairs = [(a, b) for a, b in word_pairs if a in english and b in italian]
    gold = {}
    for word, translation in test:
        if word in english and translation in italian:
            gold.setdefault(word, set()).add(translation)
    sample = min(5000, len(english) // 2)  # of the words by which gc=1 corrects

    print("P@1, en-it             gc=0   gc=1")
    model = translation_matrix.TranslationMatrix(english, italian, word_pairs, random_state=0)
    scores = [precision(model, gold, gc=gc, sample_num=sample) for gc in (0, 1)]
    print(f"{'gensim':<20}", *(f"{score:6.3f}" for score in scores))
    for name in ("procrustes", "geomm", "geomm_plus"):
        model = TranslationMatrix(english, italian, word_pairs, mapper=name)
        scores = [precision(model, gold, gc=gc, sample_num=sample) for gc in (0, 1)]
        print(f"{name:<20}", *(f"{score:6.3f}" for score in scores))

    print("\nOne space for both, as KeyedVectors:")
    aligned = align_keyedvectors({"en": english, "it": italian}, word_pairs, mapper="geomm")
    for word in ("freedom", "fisheries"):
        found = aligned["it"].similar_by_vector(aligned["en"][word], topn=3)
        print(f"{word:<10}", "  ".join(f"{answer} {cosine:.2f}" for answer, cosine in found))


if __name__ == "__main__":
    main()
