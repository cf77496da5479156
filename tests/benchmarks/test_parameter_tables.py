"""The page on parameters is that of the models, and every parameter is explained."""

from __future__ import annotations

import pytest

from benchmarks.parameter_tables import PAGE, SECTIONS, page


def test_the_committed_page_is_what_the_models_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("title", SECTIONS)
def test_every_parameter_is_explained(title: str) -> None:
    assert [name for name, field in SECTIONS[title].model_fields.items() if not field.description] == []
