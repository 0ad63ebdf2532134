"""fastText's binary models, with subwords."""
