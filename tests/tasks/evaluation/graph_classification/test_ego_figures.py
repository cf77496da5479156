from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flows.system.environment import PACKAGE_ROOT
from tasks.errors import UserError
from tasks.evaluation.graph_classification.ego_figures import (
    MAPS,
    _measured,
    _published,
    draw_clustering,
    draw_maps,
    draw_scores,
    map_rows,
    read_maps,
)
from tasks.evaluation.tables.reference import read_reference
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary, write_csv

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


def maps(clusters: int = 6) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    drawn = []
    for dataset, (encoder, eps) in product(
        ("citeseer-1-hop", "citeseer-2-hop"), (("none", "inf"), ("per_row", "1/n"), ("per_row", "1"))
    ):
        places = rng.normal(size=(30, 2)).astype(np.float32)
        drawn.append(
            map_rows(dataset, encoder, eps, places, rng.integers(0, clusters, size=30), np.arange(30) % clusters)
        )
    return pd.concat(drawn)


def test_figures_are_functions_of_what_they_show(tmp_path: Path) -> None:
    drawn = [
        draw_clustering(table(), maps(), reference(), folder, folder / "vector")
        for folder in (tmp_path / "one", tmp_path / "two")
    ]
    names = ["ego_ari_by_epsilon", "ego_gw_by_epsilon", "ego_five_graphs"]
    names += [f"ego_maps_citeseer-{hops}-hop_per_row" for hops in (1, 2)]
    assert [path.stem for path in drawn[0]] == names
    assert [path.read_bytes() for path in drawn[0]] == [path.read_bytes() for path in drawn[1]]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn[0])
    vectors = {path.name: path.read_bytes() for path in (tmp_path / "one" / "vector").iterdir()}
    assert set(vectors) == {f"{name}.{form}" for name in names for form in ("pdf", "svg")}
    assert vectors == {path.name: path.read_bytes() for path in (tmp_path / "two" / "vector").iterdir()}


def test_maps_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_csv(tmp_path / MAPS, maps())
    read = read_maps(tmp_path / MAPS)
    for name, column in maps().reset_index(drop=True).items():
        assert (read[name] == column).all() if name not in ("x", "y") else np.allclose(read[name], column)
    (tmp_path / "other.csv").write_text("dataset,eps\na,1\n")
    for name in ("other.csv", "missing.csv"):
        with pytest.raises(UserError, match=f"{name}.*--export"):
            read_maps(tmp_path / name)


def test_without_maps_there_is_no_figure_of_them(tmp_path: Path) -> None:
    drawn = draw_clustering(table(), maps().iloc[:0], reference(), tmp_path)
    assert [path.stem for path in drawn] == ["ego_ari_by_epsilon", "ego_gw_by_epsilon", "ego_five_graphs"]


def test_without_rows_over_eps_no_scores_are_drawn(tmp_path: Path) -> None:
    control = table()
    assert draw_scores(control[control["method"] == "node-count"], tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("colours", [1, 12])
def test_maps_take_any_number_of_clusters(tmp_path: Path, colours: int) -> None:
    first, second = (draw_maps(maps(colours), tmp_path / name) for name in ("one.png", "two.png"))
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
