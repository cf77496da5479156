from __future__ import annotations

import pytest

from flows.studies.node_classification.forecast import duration


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0.0, "less than a minute"),
        (0.99, "less than a minute"),
        (1.0, "about 1.0 minutes"),
        (90.04, "about 90.0 minutes"),
    ],
)
def test_a_duration_is_never_about_nothing(minutes: float, words: str) -> None:
    assert duration(minutes) == words
