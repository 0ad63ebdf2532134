"""The `.vec` family: words and decimal numbers, a line each."""
