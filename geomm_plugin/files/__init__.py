"""Files of our own: written whole or not at all, locked, and read without trust."""
