"""gensim's objects: KeyedVectors in and out, and drop-ins for scripts that use it."""
