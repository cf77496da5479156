"""The files of a figure: PNG for screens and for DVC's plots, PDF and SVG for a paper."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from tasks.atomic_write import write_atomically

VECTOR_FORMS = ("pdf", "svg")
# Without these a file names the moment it was written; the salt makes the ids inside an SVG file repeatable.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def save_figure(figure: Figure, path: Path, *, dpi: int = 120, vector: Path | None = None) -> Path:
    """Writes the PNG file ``path`` and, below the folder ``vector``, a PDF and an SVG file of the same name.

    Equal figures give equal bytes; every file appears whole or not at all.

    Raises:
        UserError: when a place cannot be written.
    """
    write_atomically(path, _rendered(figure, "png", dpi))
    if vector is not None:
        for form in VECTOR_FORMS:
            write_atomically(vector / f"{path.stem}.{form}", _rendered(figure, form, dpi))
    return path


def _rendered(figure: Figure, form: str, dpi: int) -> bytes:
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "figure"}):
        figure.savefig(content, format=form, dpi=dpi, metadata=_METADATA[form])
    return content.getvalue()
