from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from flows.system.cpu_kernels import uncovered  # before numpy is imported: it settles numpy's kernels

# A busy machine is no defect of what is tested, and every machine is given the same examples.
settings.register_profile(
    "any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("any machine")

MIRROR = "GRAPH_DATA_MIRROR"


@pytest.fixture(scope="session")
def mirror() -> str:
    """The folder or base URL that mirrors the upstream files, as the user set it."""
    place = os.environ.get(MIRROR, "").strip()
    if not place:
        pytest.skip(f"needs the upstream data: set {MIRROR} to a folder or base URL that mirrors it")
    if "://" not in place and not Path(place).expanduser().is_dir():
        pytest.fail(f"{MIRROR} names no folder")
    return place


@pytest.fixture(scope="session")
def covered_machine() -> None:
    """A machine whose libraries all run the portable kernels."""
    if reason := uncovered():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def own_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small graph as a user would bring it: three groups of thirty nodes, a ring each with chords, a few bridges."""
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(5)
    groups, size, width = 3, 30, 12
    edges = {
        (g * size + i, g * size + (i + step) % size) for g in range(groups) for i in range(size) for step in (1, 3)
    }
    edges |= {(i, size + i) for i in range(0, size, 7)}
    nodes = groups * size
    features = (rng.random((nodes, width)) + np.eye(groups, width).repeat(size, axis=0)).clip(0, 1).round(3)
    rows = "\n".join(f"{head},{tail}" for head, tail in sorted(edges))
    (folder / "edges.csv").write_text(f"head,tail\n{rows}\n")
    np.savetxt(folder / "features.csv", features, delimiter=",", fmt="%.3f")
    labels = "\n".join(f"{node},{'abc'[node // size]}" for node in range(nodes) if node != 4)
    (folder / "labels.csv").write_text(f"node,class\n{labels}\n")
    return folder
