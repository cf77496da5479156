"""The files of a figure: PNG for screens and for DVC's plots, PDF and SVG for a paper."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from tasks.errors import UserError

VECTOR_FORMS = ("pdf", "svg")
# Without these a file names the moment it was written; the salt makes the ids inside an SVG file repeatable.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def save_figure(figure: Figure, path: Path, *, dpi: int = 120, vector: Path | None = None) -> Path:
    """Writes the PNG file ``path`` and, below the folder ``vector``, a PDF and an SVG file of the same name.

    Equal figures give equal bytes; every file appears whole or not at all.

    Raises:
        UserError: when a place cannot be written.
    """
    _write(path, _rendered(figure, "png", dpi))
    if vector is not None:
        for form in VECTOR_FORMS:
            _write(vector / f"{path.stem}.{form}", _rendered(figure, form, dpi))
    return path


def _rendered(figure: Figure, form: str, dpi: int) -> bytes:
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "figure"}):
        figure.savefig(content, format=form, dpi=dpi, metadata=_METADATA[form])
    return content.getvalue()


def _write(path: Path, content: bytes) -> None:
    draft: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            draft = Path(file.name)
            file.write(content)
        draft.chmod(0o644)
        draft.replace(path)
    except BaseException as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UserError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
        raise
