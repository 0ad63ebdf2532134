"""A page on disk that leads a browser to the explorer.

The explorer's address holds a secret token, and a browser is started by a command line, which every
user of the machine can see (`ps`). So the browser gets the path of a page that only its user can
read, and the page holds the address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>geomm explore</title>
</head>
<body><p><a href="{address}">Open the explorer</a></p></body>
</html>
"""


@contextmanager
def redirect_page(address: str) -> Iterator[Path]:
    """Write a page of mode 600 in a folder of its own, which is there inside the `with` block."""
    with TemporaryDirectory(prefix="geomm-explore-") as folder:  # of mode 700
        path = Path(folder) / "open.html"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123
            stream.write(PAGE.format(address=escape(address)))
        yield path
