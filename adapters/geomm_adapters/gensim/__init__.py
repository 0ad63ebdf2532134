"""gensim's objects: KeyedVectors in and out, and its TranslationMatrix."""
