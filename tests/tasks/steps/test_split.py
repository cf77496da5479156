from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.steps.download import RawSource
from tasks.steps.split import SPLIT, split
from tasks.store import PointRef, PointStore

Declare = Callable[..., RawSource]


def deal(store: PointStore, source: RawSource, repeat: int = 0, seed: int = 0) -> PointRef:
    return split.plain(store, source, repeat, seed)  # type: ignore[attr-defined]


def test_a_split_is_made_once_and_deals_every_labelled_node(store: PointStore, source: RawSource) -> None:
    first = deal(store, source)
    assert deal(store, source).cached
    parts = Split.load(first.file(SPLIT))
    dealt = np.concatenate([parts.train, parts.validation, parts.test])
    assert sorted(dealt.tolist()) == [node for node in range(90) if node != 4]


def test_repeats_and_seeds_deal_anew(store: PointStore, source: RawSource) -> None:
    points = [deal(store, source), deal(store, source, repeat=1), deal(store, source, seed=1)]
    assert len({point.content for point in points}) == 3


def test_the_split_of_a_private_graph_repeats_no_key(store: PointStore, secret_source: RawSource) -> None:
    point = deal(store, secret_source)
    assert secret_source.content not in point.file("meta.json").read_text()


def test_a_graph_without_labels_is_refused(store: PointStore, declare: Declare) -> None:
    with pytest.raises(UserError, match="friends"):
        deal(store, declare(labels=None))


@pytest.mark.parametrize(("labelled", "enough"), [(1, False), (2, False), (3, False), (4, True), (6, True)])
def test_too_few_labels_for_every_part_are_one_line_that_names_the_set(
    labelled: int, enough: bool, store: PointStore, declare: Declare, tmp_path: Path
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("node,class\n" + "".join(f"{node},{'ab'[node % 2]}\n" for node in range(labelled)))
    source = declare(labels=file)
    if enough:
        deal(store, source)
        return
    with pytest.raises(UserError, match="friends"):
        deal(store, source)
