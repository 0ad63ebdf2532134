"""The report page: everything inline, and a policy that lets nothing else run or load.

The policy names the script and the style by their checksums, so that the browser runs no other one.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.views.charts import chart_rules
from geomm_plugin.views.markup import Markup, data_block, tag
from geomm_plugin.views.palette import color_rules
from geomm_plugin.views.report import sections

FOLDER = Path(__file__).parent


def make_page(comparison: Comparison, provenance: Provenance | None = None) -> str:
    """Return a comparison as one page of HTML that needs no network.

    Parameters
    ----------
    provenance
        The files and the command that made the numbers; the comparison does not know them.
    """
    provenance = provenance or Provenance()
    # Our own files: the only texts that are not escaped. No text of the data is in them.
    style = Markup(
        color_rules() + chart_rules() + (FOLDER / "report.css").read_text(encoding="utf-8")
    )
    script = Markup((FOLDER / "report.js").read_text(encoding="utf-8"))
    policy = (
        f"default-src 'none'; script-src '{checksum(script)}'; style-src '{checksum(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    title = f"{len(comparison.runs)} mappers compared"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", style),
    )
    main = tag(
        "main",
        sections.summary_section(comparison),
        [sections.task_section(comparison, part) for part in comparison.parts],
        sections.changes_section(),
        sections.data_section(comparison, provenance),
    )
    header = tag("header", tag("h1", title), tag("p", f"Baseline: {comparison.baseline}"))
    data = data_block("data", sections.changes_data(comparison))
    body = tag("body", header, main, data, tag("script", script))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def checksum(text: str) -> str:
    """Return the checksum that names an inline script or style in a Content-Security-Policy."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
