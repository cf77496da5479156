from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tasks.evaluation.node_embedding.embedding_changes import Change
from tasks.evaluation.node_embedding.embedding_figures import draw_embedding
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary


def rows(mode="walk", metrics=("micro_f1", "edge_recall", "messages_per_walk"), dataset="ppi", **settings):
    return [
        Row("node_embedding", dataset, "fedwalk", settings | {"mode": mode, "scoring": scoring}, repeat, metric, value)
        for scoring in ("top_k", "threshold")
        for repeat, value in enumerate((0.3, 0.32))
        for metric in metrics
    ]


def grid(**axes):
    """Rows at every value of one setting, for walks and for DeepWalk."""
    ((name, values),) = axes.items()
    fixed = {"k": "7", "eps_encoder": "2", "p": "0.2", "walks": "80", "train_ratio": "0.5"}
    found = rows("deepwalk", ("micro_f1",), walks="80", train_ratio="0.5")
    for value in values:
        found += rows(**{**fixed, name: value})
    return summary(found)


@pytest.mark.parametrize(
    ("axes", "file"),
    [
        ({"k": ("3", "9")}, "micro_f1_by_bins.png"),
        ({"eps_encoder": ("0.5", "2", "inf")}, "micro_f1_by_epsilon.png"),
        ({"p": ("0", "0.2")}, "micro_f1_by_prediction.png"),
    ],
)
def test_a_setting_with_more_than_one_value_has_its_figure(tmp_path: Path, axes, file):
    assert draw_embedding(grid(**axes), tmp_path) == [tmp_path / file]
    picture = imread(tmp_path / file)
    assert np.ptp(picture[..., 0]) > 0.5


def test_one_value_or_other_studies_draw_nothing(tmp_path: Path):
    other = Row("node_classification", "cora", "base", {"eps_a": "7"}, 0, "accuracy", 0.5)
    assert draw_embedding(summary([other]), tmp_path) == []
    assert draw_embedding(grid(k=("7",)), tmp_path) == []
    assert draw_embedding(summary(rows("deepwalk", walks="80", train_ratio="0.5")), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_many_data_sets_and_modes_share_a_figure_with_the_same_bytes(tmp_path: Path):
    found = [
        row
        for dataset in ("ppi", "blogcatalog")
        for ratio in ("0.1", "0.5")
        for walks in ("40", "80")
        for p in ("0", "0.2")
        for mode in ("walk", "walk-random-tree")
        for row in rows(mode, dataset=dataset, train_ratio=ratio, walks=walks, p=p, eps_encoder="2")
    ]
    written = []
    for folder in ("a", "b"):
        (path,) = draw_embedding(summary(found), tmp_path / folder)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert imread(path).shape[1] == 2 * 5.5 * 120


def test_a_panel_of_few_values_beside_others_is_left_out(tmp_path: Path):
    found = [row for p in ("0", "0.1", "0.2", "0.4") for row in rows(p=p, train_ratio="0.5", walks="80")]
    found += [row for p in ("0", "0.2") for row in rows(dataset="blogcatalog", p=p, train_ratio="0.5", walks="80")]
    (path,) = draw_embedding(summary(found), tmp_path)
    assert imread(path).shape[1] == 7 * 120


def test_what_was_published_changes_the_figure_of_its_data_set(tmp_path: Path):
    changes = [Change("figure-8", dataset, "p", "0", "0.2", "80", "", -0.2) for dataset in ("ppi", "flickr")]
    table = summary([row for p in ("0", "0.2") for row in rows(p=p, train_ratio="0.5", walks="80")])
    plain, ours, theirs = (
        draw_embedding(table, tmp_path / str(len(chosen)) / name, None, chosen)[0].read_bytes()
        for name, chosen in (("plain", []), ("ppi", changes[:1]), ("flickr", changes[1:]))
    )
    assert plain == theirs != ours
