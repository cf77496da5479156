import numpy as np
import pytest

from tasks.client.labels import reveal_labels
from tasks.errors import UserError

LABELS = np.array([0, 1, 2, -1, 1, 0])


def test_only_the_chosen_labels_are_revealed() -> None:
    report = reveal_labels(LABELS, np.array([2, 0]), np.array([4]), classes=3, dataset="toy")
    assert report.train_nodes.tolist() == [0, 2]
    assert report.train_labels.tolist() == [0, 2]
    assert report.validation_labels.tolist() == [1]
    assert not report.ledger.guarantee
    assert report.ledger.declared_public


@pytest.mark.parametrize(
    ("train", "validation", "named"),
    [([0, 3], [1], "train label"), ([0, 1], [1], "overlap"), ([9], [1], "toy.*node id")],
)
def test_unfit_choices_are_refused(train: list[int], validation: list[int], named: str) -> None:
    with pytest.raises(UserError, match=named):
        reveal_labels(LABELS, np.array(train), np.array(validation), classes=3, dataset="toy")


def test_labels_without_a_known_class_are_refused() -> None:
    with pytest.raises(UserError, match=r"toy.*class"):
        reveal_labels(np.full(4, -1), np.array([], dtype=int), np.array([], dtype=int), classes=0, dataset="toy")
