from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from flows.context.coverage import check_coverage
from flows.studies.registry import declared
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.parameters.profiles import Profile

PROFILE = Profile.model_validate(
    {
        "repeats": 2,
        "node_classification": {"datasets": ["digits"], "eps_x": [1], "eps_a": [7]},
        "graph_classification": {
            "datasets": ["mutag", "imdb-binary"],
            "encoders": ["per_row", "paper"],
            "eps": ["1/n", 10, "inf"],
        },
        "ego_clustering": {"graphs": 60, "hops": [1, 2], "encoders": ["gaussian_scale"], "eps": [1, "inf"]},
    }
)
NOISE = [("per_row", "1/n"), ("per_row", "10"), ("paper", "1/n"), ("paper", "10")]


def embedded(backbone: str, encoder: str, eps: str) -> dict[str, str]:
    kind = f"{backbone}-H" if encoder == "none" else f"{backbone}-H-ldp"
    return {"input": kind, "backbone": backbone, "encoder": encoder, "eps": eps}


def graph_lines(dataset: str) -> list[tuple[str, dict[str, str]]]:
    """What the table of graph classification holds for one data set, by hand."""
    lines = [(name, {"input": "raw", "backbone": name}) for name in ("gcn", "gin")]
    lines += [(name, {"input": "raw"}) for name in ("spk", "svm-gw")]
    # There are no features of nodes to fuse with in IMDB-BINARY.
    lines += [("svm-fgw", {"input": "raw"})] if dataset == "mutag" else []
    lines += [("node-count", {"input": "node counts"})]
    for backbone in ("gcn", "gin"):
        lines += [("svm-gw", embedded(backbone, *noise)) for noise in [*NOISE, ("none", "inf")]]
    return lines


EGO_LINES = [
    ("node-count", {"input": "node counts"}),
    ("gw-k-means", embedded("gcn", "gaussian_scale", "1")),
    ("gw-k-means", embedded("gcn", "none", "inf")),
]


def rows(study: str) -> list[Row]:
    if study == "graph_classification":
        lines = [(dataset, *line) for dataset in ("mutag", "imdb-binary") for line in graph_lines(dataset)]
    else:
        lines = [(f"citeseer-{hops}-hop", *line) for hops in (1, 2) for line in EGO_LINES]
    return [Row(study, *line, repeat, "accuracy", 0.5) for line, repeat in product(lines, range(2))]


def check(given: list[Row]) -> None:
    check_coverage(given, declared(given[0].study), PROFILE)


STUDIES = ("graph_classification", "ego_clustering")


@pytest.mark.parametrize("study", STUDIES)
def test_every_line_of_the_grid_in_every_repeat_is_covered(study: str) -> None:
    check(rows(study))


@pytest.mark.parametrize(("study", "place"), product(STUDIES, (0, 7, -1)))
def test_one_lacking_row_is_noticed(study: str, place: int) -> None:
    given = rows(study)
    gone = given.pop(place)
    with pytest.raises(UserError, match=rf"^{gone.dataset} {gone.method} .*has no row \(1 such lines\)"):
        check(given)


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    "change",
    [{"repeat": 2}, {"method": "svm"}, {"settings": {"input": "raw", "eps": "3"}}],
    ids=["repeat", "method", "settings"],
)
def test_one_row_too_many_is_noticed(study: str, change: dict[str, object]) -> None:
    given = rows(study)
    with pytest.raises(UserError, match=r"is not in the grid \(1 such lines\)"):
        check([*given, replace(given[0], **change)])  # type: ignore[arg-type]


def test_a_data_set_without_features_of_nodes_has_no_fused_line() -> None:
    strange = Row("graph_classification", "imdb-binary", "svm-fgw", {"input": "raw"}, 0, "accuracy", 0.5)
    with pytest.raises(UserError, match="imdb-binary svm-fgw input=raw repeat=0 is not in the grid"):
        check([*rows("graph_classification"), strange])


def test_ego_graphs_of_one_reach_alone_are_not_all() -> None:
    near = [row for row in rows("ego_clustering") if row.dataset == "citeseer-1-hop"]
    with pytest.raises(UserError, match=r"citeseer-2-hop .*has no row \(6 such lines\)"):
        check(near)


def test_what_has_no_grid_is_no_study() -> None:
    with pytest.raises(UserError, match="no study 'attacks'"):
        check([Row("attacks", "cora", "base", {}, 0, "auc", 0.5)])
