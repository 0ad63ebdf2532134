"""[read] Data sets of the field: where they come from, and how to fetch them.

The list is data (`catalog.json`): addresses, sizes, licences, and checksums where they are known.
Fetching (`download`) is the only part of the package that uses the network.
"""
