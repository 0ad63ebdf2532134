"""`python -m geomm_plugin` is the command `geomm`."""

from geomm_plugin.cli import main

if __name__ == "__main__":
    main()
