from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flows.startup import PACKAGE_ROOT
from tasks.evaluation.ego_figures import GraphMap, _measured, _published, draw_five, draw_maps, draw_scores
from tasks.evaluation.reference import read_reference
from tasks.evaluation.rows import Row
from tasks.evaluation.tables import summary

STUDY = "ego_clustering"


def table() -> pd.DataFrame:
    lines = [
        ("node-count", {"input": "node counts"}, 0.0),
        ("gw-k-means", {"input": "gcn-H", "backbone": "gcn", "encoder": "none", "eps": "inf"}, 1.0),
        *(
            ("gw-k-means", {"input": "gcn-H-ldp", "backbone": "gcn", "encoder": encoder, "eps": eps}, value)
            for encoder in ("per_row", "gaussian_scale")
            for eps, value in (("1/n", 2.0), ("1", 4.0))
        ),
    ]
    return summary(
        Row(STUDY, dataset, method, settings, repeat, metric, value + repeat)
        for dataset in ("citeseer-1-hop", "citeseer-2-hop")
        for method, settings, value in lines
        for repeat in (0, 1)
        for metric in ("ari", *(["gw_mean", "five_gw_mean", "five_gw_sd"] if "eps" in settings else []))
    )


def reference() -> pd.DataFrame:
    return read_reference(PACKAGE_ROOT / "data" / "reference" / "gromov.csv")


def test_bars_are_the_published_figures_and_means_over_repeats() -> None:
    published = _published(reference())
    assert set(published) == {"inf", "1/n", "0.1", "1"}
    assert published["1"] == (3.25, 3.09)
    chosen = table()
    chosen = chosen[(chosen["dataset"] == "citeseer-1-hop") & chosen["encoder"].isin(["per_row", "none"])]
    assert _measured(chosen) == {"inf": (1.5, 1.5), "1/n": (2.5, 2.5), "1": (4.5, 4.5)}


def test_figures_are_functions_of_what_they_show(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    places, labels = rng.normal(size=(30, 2)).astype(np.float32), rng.integers(0, 6, size=30)
    maps = [GraphMap(title, places, rng.integers(0, 6, size=30)) for title in ("no LDP", "eps=1")]
    drawn = [
        [
            *draw_scores(table(), folder),
            draw_five(table(), reference(), folder / "five.png"),
            draw_maps(maps, labels, folder / "maps.png"),
        ]
        for folder in (tmp_path / "one", tmp_path / "two")
    ]
    assert [path.name for path in drawn[0]] == ["ari_by_epsilon.png", "gw_by_epsilon.png", "five.png", "maps.png"]
    assert [path.read_bytes() for path in drawn[0]] == [path.read_bytes() for path in drawn[1]]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn[0])


def test_without_rows_over_eps_no_scores_are_drawn(tmp_path: Path) -> None:
    control = table()
    assert draw_scores(control[control["method"] == "node-count"], tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("colours", [1, 12])
def test_maps_take_any_number_of_clusters(tmp_path: Path, colours: int) -> None:
    clusters = np.arange(24) % colours
    drawn = draw_maps([GraphMap("x", np.zeros((24, 2), dtype=np.float32), clusters)], clusters, tmp_path / "m.png")
    assert drawn.exists()
