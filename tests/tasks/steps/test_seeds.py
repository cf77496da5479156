"""The two parties' randomness: the curator's is public and never tells the noise."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.seeds import derive_seed, generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features
from tasks.steps.node_embedding.tree import publish_degrees
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import curator_seed
from tasks.store import PointStore

TASKS = Path(__file__).resolve().parents[3] / "tasks"
PURPOSE: dict[str, Any] = {"study": "s", "dataset": "d", "point": "p", "repeat": 0}
roles = st.sampled_from(["edges", "features", "degrees", "counts", "walks", "embedding", "encoded lists"])


@given(st.integers(0, 2**63 - 1), roles, st.sampled_from(["curator", "curator/tree", "curator/walks"]))
def test_no_curator_seed_is_a_noise_seed(root: int, kind: str, role: str) -> None:
    noise = derive_seed(root, **PURPOSE, role=f"client/{kind}")
    public = curator_seed(root, **PURPOSE, role=role)
    assert public != noise
    assert generator(public).bytes(16) != generator(noise).bytes(16)


def test_without_a_root_the_curator_is_reproducible_and_the_clients_are_not(
    store: PointStore, source: RawSource, tmp_path: Path
) -> None:
    assert curator_seed(None, **PURPOSE) == curator_seed(None, **PURPOSE)
    other = PointStore(tmp_path / "other")
    reports = [
        [
            perturb_edges.plain(place, source, mode="directed", eps_a="1", repeat=0, seed=None, memory_limit_mb=100),
            perturb_features.plain(place, source, eps_x="1", repeat=0, seed=None),  # type: ignore[attr-defined]
            publish_degrees.plain(place, source, eps_degree="1", repeat=0, seed=None),
        ]
        for place in (store, other)
    ]
    for first, second in zip(*reports, strict=True):
        assert first.file(REPORT).read_bytes() != second.file(REPORT).read_bytes()


@pytest.mark.parametrize("package", ["curator", "evaluation", "models", "reports", "broadcasts"])
def test_only_the_steps_derive_seeds_and_only_the_client_draws_noise(package: str) -> None:
    audits = TASKS / "evaluation" / "audits"  # they stand in for users, many times over
    for path in set((TASKS / package).rglob("*.py")) - set(audits.rglob("*.py")):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert not names & {"derive_seed", "noise_generator"}, path
