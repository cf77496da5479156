"""The report as one HTML file that loads nothing: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.evaluation.report_page.blocks import Picture, Section

_FOLDER = Path(__file__).parent
_TYPES = {"png": "image/png", "svg": "image/svg+xml"}


def page(title: str, summary: Sequence[str], sections: Sequence[Section]) -> str:
    """The page's text; equal arguments give equal text. Every text is escaped.

    ``summary`` are the sentences at the top.
    """
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = Markup((_FOLDER / "style.css").read_text(encoding="utf-8"))  # ours, and no data
    return environment.get_template("page.html").render(title=title, summary=summary, sections=sections, style=style)


def picture(path: Path, caption: str, files: Sequence[str]) -> Picture:
    """A PNG or SVG file as an embedded picture; ``files`` are the names to cite beside it."""
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    return Picture(caption, f"data:{_TYPES[path.suffix.removeprefix('.')]};base64,{content}", tuple(files))
