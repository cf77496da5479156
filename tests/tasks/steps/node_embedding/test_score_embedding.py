from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.errors import UserError
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.embed import EMBEDDING, embed
from tasks.steps.node_embedding.score_embedding import (
    SCORES,
    read_recovery,
    read_scores,
    recover_edges,
    score_embedding,
)
from tasks.store import PointRef, PointStore

Protocol = Callable[..., dict[str, PointRef]]
TINY: dict[str, Any] = {
    "dimensions": 4, "window": 2, "threads": 1, "dataset": "friends", "label": "friends", "repeat": 0, "seed": 0
}  # fmt: skip


def learn(store: PointStore, walks: PointRef, **changes: Any) -> PointRef:
    return embed.plain(store, walks, **{**TINY, **changes})  # type: ignore[attr-defined]


def judge(store: PointStore, source: RawSource, embedding: PointRef, **changes: Any) -> PointRef:
    chosen = {"train_ratios": [0.5, 0.8], "splits": 3, "label": "friends", "repeat": 0, "seed": 0, **changes}
    return score_embedding.plain(store, source, embedding, **chosen)  # type: ignore[attr-defined]


def recover(store: PointStore, source: RawSource, uploads: PointRef, form: str) -> dict[str, float]:
    point = recover_edges.plain(store, source, uploads, form=form, label="friends")  # type: ignore[attr-defined]
    return read_recovery(point)


def test_an_embedding_is_a_vector_a_vertex_and_the_same_every_time(
    store: PointStore, protocol: Protocol, source: RawSource
) -> None:
    walks = protocol(source)["walks"]
    first = learn(store, walks)
    vectors = np.load(first.file(EMBEDDING))
    assert (vectors.shape, vectors.dtype) == ((90, 4), np.float32)
    first.file("meta.json").unlink()
    again = learn(store, walks)
    assert "damaged" in again.remark
    assert again.content == first.content


@pytest.mark.parametrize("change", [{"dimensions": 5}, {"window": 3}, {"threads": 2}, {"repeat": 1}, {"seed": 1}])
def test_whatever_decides_the_vectors_is_in_the_key(
    store: PointStore, protocol: Protocol, source: RawSource, change: dict[str, int]
) -> None:
    walks = protocol(source)["walks"]
    learn(store, walks)
    assert not learn(store, walks, **change).cached
    assert learn(store, walks).cached


def test_deepwalk_over_a_private_graph_is_keyed_by_the_secret(
    store: PointStore, protocol: Protocol, secret_source: RawSource
) -> None:
    walks = protocol(secret_source)["deepwalk"]
    text = learn(store, walks).file("meta.json").read_text()
    assert json.loads(text)["key"] is None
    assert walks.content not in text


def labelled(store: PointStore, source: RawSource) -> PointRef:
    """An embedding that is the truth."""
    truth = np.eye(3, dtype=np.float32)[source.load().labels] * 10
    return store.point({"truth": "friends"}, lambda folder: np.save(folder / EMBEDDING, truth), label="truth")


def test_the_truth_scores_best_and_scores_are_means_over_splits(
    store: PointStore, protocol: Protocol, source: RawSource
) -> None:
    perfect = read_scores(judge(store, source, labelled(store, source)))
    assert set(perfect) == {(ratio, scoring) for ratio in (0.5, 0.8) for scoring in ("top_k", "threshold")}
    assert all(f1 == {"micro_f1": 1.0, "macro_f1": 1.0} for f1 in perfect.values())
    point = judge(store, source, learn(store, protocol(source)["deepwalk"]))
    single = [
        x for x in json.loads(point.file(SCORES).read_text()) if (x["train_ratio"], x["scoring"]) == (0.5, "top_k")
    ]
    assert len(single) == 3
    assert read_scores(point)[0.5, "top_k"]["micro_f1"] == pytest.approx(sum(x["micro_f1"] for x in single) / 3)


def test_all_embeddings_of_a_repeat_meet_the_same_splits(
    store: PointStore, protocol: Protocol, source: RawSource
) -> None:
    points = protocol(source)
    seeds = {
        json.loads(judge(store, source, learn(store, points[name])).file("meta.json").read_text())["key"]["seed"]
        for name in ("walks", "deepwalk")
    }
    assert len(seeds) == 1


def test_without_noise_every_edge_is_recovered_and_with_much_hardly_one(
    store: PointStore, protocol: Protocol, source: RawSource
) -> None:
    for eps, low, high in (("inf", 1, 1), ("0.01", 0, 0.2)):
        points = protocol(source, eps_encoder=eps, p=0.0, walks=20)
        lists = {"mode": "directed-no-diagonal", "eps_a": eps, "repeat": 0, "seed": 0, "memory_limit_mb": 10}
        noisy = perturb_edges.plain(store, source, **lists)  # type: ignore[attr-defined]
        uploads = {"walks": points["walks"], "encoded lists": points["lists"], "noisy lists": noisy}
        for form, point in uploads.items():
            found = recover(store, source, point, form)
            assert low <= found["edge_precision"] <= high
            assert found["edge_recall"] == found["edge_precision"]
            assert found["edge_base_rate"] == pytest.approx(source.load().edges / (90 * 89 / 2))


def test_edge_recovery_is_never_asked_of_a_private_graph(
    store: PointStore, protocol: Protocol, secret_source: RawSource
) -> None:
    with pytest.raises(UserError, match=r"friends.*public"):
        recover(store, secret_source, protocol(secret_source)["walks"], "walks")


def test_a_graph_without_labels_has_no_score(store: PointStore, source: RawSource) -> None:
    assert source.own
    bare = dataclasses.replace(source, content="x", own=dataclasses.replace(source.own, labels=None))
    with pytest.raises(UserError, match=r"friends.*labels"):
        judge(store, bare, labelled(store, source))
