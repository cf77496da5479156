"""Every report type is made by its mechanism with a ledger line of its own, and by nothing without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.broadcasts.tree import ClusterTree
from tasks.client.embedding_encoder import encode_embeddings
from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.client.fedwalk.walks import release_walks
from tasks.client.labels import reveal_labels
from tasks.client.local_training import update_line
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.errors import UserError
from tasks.reports.edge_mode import EdgeMode
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.reports.ledgers.ledger_line import SIMULATION
from tasks.reports.model_update import ModelUpdate, ValidationCounts
from tasks.seeds import generator

RING = np.roll(np.eye(4, dtype=np.int8), 1, axis=1)
GRAPH = csr_array(RING | RING.T)
LISTS = neighbour_lists(GRAPH, dataset="toy")
TREE = ClusterTree("random", "balanced", np.array([[0, 1], [2, 3], [4, 5]], dtype=np.int32))
BINS = np.array([0, 1, 0, 1], dtype=np.int32)
Maker = Callable[..., Any]


def edges(seed: int | None, epsilon: str = "1", mode: EdgeMode = "directed") -> Any:
    return randomise_neighbour_lists(GRAPH, epsilon, mode, generator(seed), 10, seed is not None, dataset="toy")


def features(seed: int | None, epsilon: str = "1") -> Any:
    return encode_features(csr_array(np.eye(4)), (0, 1), epsilon, generator(seed), seed is not None, dataset="toy")


def embedding(encoder: str) -> Maker:
    cells = [np.full((2, 2), 0.5)]
    return lambda seed: encode_embeddings(cells, encoder, "1", generator(seed), seed is not None, dataset="toy")


def released(release: Maker, *arguments: Any, **keywords: Any) -> Maker:
    return lambda seed: release(*arguments, generator(seed), dataset="toy", simulated=seed is not None, **keywords)


def update(seed: int | None) -> ModelUpdate:
    line = update_line("toy", generator(seed))
    return ModelUpdate(0, 0, 1, np.zeros(3, dtype=np.float32), ValidationCounts(), line)


def labels(seed: int | None) -> Any:
    return reveal_labels(np.arange(4) % 2, np.array([0, 1]), np.array([2]), classes=2, dataset="toy")


PROMISING: dict[str, Maker] = {
    "edges": edges,
    "pair": lambda seed: edges(seed, mode="pair"),
    "features": features,
    "per_row": embedding("per_row"),
    "row": embedding("row"),
    "paper": embedding("paper"),
    "degrees": released(release_degrees, LISTS, "1"),
    "counts": released(release_neighbour_counts, LISTS, LISTS.degrees, BINS, "1"),
    "encoded lists": released(release_lists, LISTS, TREE, "1"),
}
OPEN: dict[str, Maker] = {
    "gaussian_scale": embedding("gaussian_scale"),
    "paper's tree": released(release_structural_matrices, LISTS, BINS, "1"),
    "model update": update,
    "labels": labels,
    "edges inf": lambda seed: edges(seed, "inf"),
    "features inf": lambda seed: features(seed, "inf"),
}
MAKERS = PROMISING | OPEN
UNITS = ("edge", "neighbour list", "relation", "feature vector", "node", "graph", "row of H", "client", "walk", "label")


@pytest.fixture(params=[*MAKERS, "walks"])
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """One report of each kind from a known seed."""
    return walks(tmp_path, 1) if request.param == "walks" else MAKERS[request.param](1)


def walks(folder: Path, seed: int | None) -> Any:
    rng = generator(seed)
    return release_walks(LISTS, TREE, "1", folder, rng, dataset="toy", simulated=seed is not None, walks=1, length=3)


def test_a_report_has_no_default_line(report: Any) -> None:
    assert is_dataclass(report)
    (entry,) = (field for field in fields(report) if field.name == "ledger")
    assert entry.default is MISSING
    assert entry.default_factory is MISSING


@pytest.mark.parametrize("nothing", [None, "", {}, Ledger()], ids=repr)
def test_no_report_without_a_line(report: Any, nothing: object) -> None:
    with pytest.raises(UserError, match=rf"\b{type(nothing).__name__}\b"):
        replace(report, ledger=nothing)


def test_no_report_with_the_line_of_another_kind(report: Any) -> None:
    others = {make(1).ledger.deployment_key: make(1).ledger for make in MAKERS.values()}
    assert len(others) == 9
    others.pop(report.ledger.deployment_key, None)
    for line in others.values():
        with pytest.raises(UserError, match=f"'{line.deployment_key}'"):
            replace(report, ledger=line)


@pytest.mark.parametrize("kind", ["edges", "features", "degrees", "counts"])
def test_no_report_with_a_line_of_another_budget(kind: str) -> None:
    made = MAKERS[kind](1)
    with pytest.raises(UserError, match="budget"):
        replace(made, ledger=replace(made.ledger, epsilon="0.5"))


def test_units_are_the_known_ones(report: Any) -> None:
    assert report.ledger.unit.startswith(UNITS)


@pytest.mark.parametrize("kind", PROMISING)
def test_only_noise_that_nobody_can_reproduce_is_called_protection(kind: str) -> None:
    seeded, fresh = PROMISING[kind](1).ledger, PROMISING[kind](None).ledger
    assert (seeded.guarantee, fresh.guarantee) == (False, True)
    assert (seeded.simulated, fresh.simulated) == (True, False)
    assert seeded.statement.startswith(SIMULATION)
    assert fresh.statement.startswith("protected: ")
    assert seeded.epsilon == fresh.epsilon != "inf"


@pytest.mark.parametrize("seed", [1, None])
@pytest.mark.parametrize("kind", [*OPEN, "walks"])
def test_lines_without_a_guarantee_say_so_in_words(kind: str, seed: int | None, tmp_path: Path) -> None:
    line: LedgerLine = (walks(tmp_path, seed) if kind == "walks" else OPEN[kind](seed)).ledger
    assert not line.guarantee
    assert line.epsilon == "inf"
    assert line.statement.startswith(("no guarantee", "no noise"))
    assert line.not_protected


def test_composing_reports_composes_their_lines_and_using_one_again_is_free() -> None:
    vector, lists = features(1, "0.5"), edges(2, "1")
    ledger = Ledger((vector.ledger, lists.ledger))
    deployed, everything = ledger.deployment("toy", {"features": "0.5", "edges": "1"}), ledger.released("toy")
    assert deployed == everything
    assert deployed.spent == {"edge": "1", "replacement": "2", "relation": "2", "features": "0.5"}
    assert ledger.extended([vector.ledger, lists.ledger]).released("toy") == everything
    drawn_again = ledger.extended([edges(3, "1").ledger])
    assert drawn_again.released("toy").spent == {"edge": "2", "replacement": "4", "relation": "4", "features": "0.5"}
    assert drawn_again.deployment("toy", {"features": "0.5", "edges": "1"}) == deployed


def test_what_a_deployment_sends_in_clear_is_in_its_total() -> None:
    ledger = Ledger(tuple(PROMISING[kind](1).ledger for kind in ("per_row",)))
    assert ledger.released("toy").spent == {"graph": "1"}
    trained = ledger.extended([update(1).ledger])
    assert trained.released("toy").spent["graph"] == "inf"
    assert trained.released("toy", noisy_only=True).spent == {"graph": "1"}
    with pytest.raises(UserError, match=r"toy: .*training inf.*budget 1"):
        trained.require_within("1")
