"""`python -m geomm_plugin` is the command `geomm`."""

from geomm_plugin.cli import main

main(prog_name="geomm")
