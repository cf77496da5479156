from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from tasks.errors import UserError
from tasks.evaluation.tables.figure_files import save_figure


def figure() -> Figure:
    drawn = Figure(figsize=(2, 2))
    axis = drawn.subplots()
    axis.plot([0, 1], [1, 0], marker="o", label="a < b & c")
    axis.legend()
    return drawn


def test_every_form_is_written_and_names_no_moment(tmp_path: Path) -> None:
    path = save_figure(figure(), tmp_path / "one.png", vector=tmp_path / "vector")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file()) == ["one.pdf", "one.png", "one.svg"]
    pdf, svg = ((tmp_path / "vector" / f"one.{form}").read_bytes() for form in ("pdf", "svg"))
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf
    assert ET.fromstring(svg).tag.endswith("svg")
    assert b"dc:date" not in svg
    assert not re.search(rb"(href|src)=\"http", svg)


def test_equal_figures_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        save_figure(figure(), tmp_path / name / "x.png", vector=tmp_path / name)
    for form in ("png", "pdf", "svg"):
        assert (tmp_path / "first" / f"x.{form}").read_bytes() == (tmp_path / "second" / f"x.{form}").read_bytes()


def test_without_a_vector_folder_there_is_the_picture_alone(tmp_path: Path) -> None:
    save_figure(figure(), tmp_path / "one.png")
    assert [file.name for file in tmp_path.iterdir()] == ["one.png"]


def test_a_place_that_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(UserError, match=r"taken\.png"):
        save_figure(figure(), tmp_path / "taken.png")
    assert [file.name for file in tmp_path.iterdir()] == ["taken.png"]
