"""[export] Aligned files: fit a mapper and write every language into the shared space."""
