"""The description on a package index: README.md, with links that lead to the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class AbsoluteLinks(MetadataHookInterface):
    """Makes README.md's relative links absolute; the repository is named in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling with the table [project]."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = with_absolute_links(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, repository: str) -> str:
    """Return Markdown whose links to files lead to them in the repository; pictures, too."""
    picture = r"!\[([^\]]*)\]\((?!https?://)([^)\s]+)\)"
    text = re.sub(picture, rf"![\1]({repository}/raw/main/\2)", text)
    return re.sub(r"\]\((?!https?://|#)([^)\s]+)\)", rf"]({repository}/blob/main/\1)", text)
