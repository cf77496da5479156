"""What the fuzz run attacks: every reader of files and parameters, and what is done with what it accepts."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.random import Generator
from scipy.sparse import csr_array

from benchmarks import fuzz_samples as samples
from benchmarks.fuzz_damage import TOKENS, Files, damaged
from tasks.broadcasts.tree import ClusterTree
from tasks.client.embedding_encoder import encode_embeddings
from tasks.client.labels import reveal_labels
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.curator.federation import initial_weights
from tasks.curator.rectify import rectified
from tasks.datasets.catalogue.arrival import DamagedFile, check_content, recorded_hash
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import Source, UpstreamFile
from tasks.datasets.catalogue.readers import parse_public
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.splits import Split, random_split
from tasks.datasets.user.declaration import UserDataset
from tasks.datasets.user.user_graph import load_user_graph
from tasks.models.graph_architecture import GraphArchitecture
from tasks.parameters.loading import load_parameters
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.reports.feature import FeatureReport
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus
from tasks.reports.fedwalk.walks import Traffic, WalkReport
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.model_update import ModelUpdate, ValidationCounts
from tasks.seeds import generator
from tasks.store import PointStore

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        name: row of the table.
        samples: sound inputs, the content of files by their names.
        read: reads a folder and uses what it read; UserError is a refusal.
        damage: makes an input of a sample.
        named: texts of which a refusal must name one, besides the names of the files.
    """

    name: str
    samples: Sequence[Files]
    read: Callable[[Path], object]
    damage: Callable[[Files, Generator], dict[str, bytes]] = damaged
    named: tuple[str, ...] = ()


def all_targets() -> list[Target]:
    """Every reader of the project."""
    return [*_datasets(), *_own_graphs(), *_parameters(), *_stored(), *_reports()]


def _datasets() -> list[Target]:
    public = {
        "planetoid pickles": ("cora", samples.planetoid()),
        "nettack npz": ("citeseer-lcc", samples.nettack()),
        "TU zip": ("proteins", samples.tu_archive()),
        "MATLAB": ("ppi", samples.matlab()),
        "facebook csv, json": ("facebook", samples.facebook()),
        "lastfm csv, zip": ("lastfm", samples.lastfm()),
        "digits npz": ("digits", samples.digits()),
        "mutag npz": ("mutag", samples.mutag()),
    }
    return [
        *(
            Target(kind, [files], lambda folder, name=name: reported(parse_public(name, folder)), named=(name,))
            for kind, (name, files) in public.items()
        ),
        Target("fetch from a mirror", [{"part.csv": b"0,1\n" * 40}], _fetch, named=("GRAPH_DATA_MIRROR",)),
        Target(
            "split npz",
            [{"split.npz": samples.written(_split().save, "split.npz")}],
            lambda x: Split.load(x / "split.npz"),
        ),
    ]


def _split() -> Split:
    return random_split(np.arange(12) % 3, generator(0))


def _fetch(folder: Path) -> None:
    """A mirror with a damaged copy, a place with a damaged copy, and a damaged note of the first download's hash."""
    upstream = UpstreamFile("set/part.csv", (Source("https://localhost:9/part.csv", 160, "0" * 64),))
    unknown = UpstreamFile("set/part.csv", (Source("https://localhost:9/part.csv", None, None),))
    target = folder / "part.csv"
    if target.exists():
        (folder / "part.csv.sha256").write_bytes(target.read_bytes())
        recorded_hash(target)
        with contextlib.suppress(DamagedFile):  # whoever calls this makes a line of it
            check_content(unknown, target.read_bytes())
        (folder / "part.csv.sha256").unlink()
        (folder / "mirror" / "set").mkdir(parents=True)
        shutil.copyfile(target, folder / "mirror" / "set" / "part.csv")
        try:
            fetch_files([upstream], folder / "arrived", str(folder / "mirror"))
        finally:
            shutil.rmtree(folder / "mirror")


def reported(graph: RawGraph | RawGraphSet) -> None:
    """Runs what the devices would run on an accepted graph."""
    if isinstance(graph, RawGraphSet):
        for part in graph.graphs:
            reported(part)
        return
    randomise_neighbour_lists(graph.adjacency, "1", "directed", generator(0), 20, True, dataset=graph.name)
    if graph.features is not None:
        encode_features(graph.features, graph.feature_bounds, "1", generator(0), True, dataset=graph.name)
    if graph.labels is not None:
        split = random_split(graph.labels, generator(0))
        reveal_labels(graph.labels, split.train, split.validation, classes=graph.classes, dataset=graph.name)


def _own_graphs() -> list[Target]:
    return [
        Target(f"own graph, {' '.join(files)}", [files], _read_own, named=("friends",))
        for files in samples.own_graphs()[:5]
    ] + [Target("own graph, tiny", samples.own_graphs()[5:], _read_own, named=("friends",))]


def _read_own(folder: Path) -> None:
    paths = {path.stem: path for path in sorted(folder.iterdir())}
    edges = paths.get("edges", folder / "edges.csv")
    bounds = (0.0, 1.0) if "features" in paths else None
    reported(load_user_graph(UserDataset("friends", edges, paths.get("features"), paths.get("labels"), None, bounds)))


def _parameters() -> list[Target]:
    content = (ROOT / "params.yaml").read_bytes()
    return [
        Target("params.yaml, text", [{"params.yaml": content}], _read_parameters, named=("profile",)),
        Target("params.yaml, values", [{"params.yaml": content}], _read_parameters, _other_values, ("profile",)),
        Target("--set", [{"params.yaml": content, "set": b"{}"}], _read_parameters, _overrides, ("--set",)),
    ]


def _read_parameters(folder: Path) -> None:
    overrides = json.loads((folder / "set").read_bytes()) if (folder / "set").exists() else []
    load_parameters(folder / "params.yaml", "demo", overrides)


VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "x" * 999,
    "é😀",
    [],
    {},
    [[]],
    {"a": 1},
    "1/n",
    "inf",
    [1, 1],
    ["a"],
    2**63,
    "\ud800",
    b"\x00",
    [None],
    -0.0,
    1e-320,
    {1: 2},
    [{"a": []}],
    "../x",
)


def _other_values(files: Files, rng: Generator) -> dict[str, bytes]:
    tree = yaml.safe_load(files["params.yaml"])
    if rng.random() < 0.05:
        anchors = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(12))
        return {"params.yaml": (anchors + "demo: {seed: *a11}\npaper: {}\n").encode()}
    for _ in range(int(rng.integers(1, 3))):
        parent, key = tree, str(rng.choice(sorted(tree)))
        while isinstance(parent[key], dict) and parent[key] and rng.random() < 0.85:
            parent, key = parent[key], str(rng.choice(sorted(map(str, parent[key]))))
            if key not in parent:
                break
        value = VALUES[rng.integers(len(VALUES))]
        kind = rng.integers(4)
        if kind == 0 and isinstance(parent.get(key), list):
            parent[key] = [*parent[key], value]
        elif kind == 1:
            parent[str(TOKENS[rng.integers(len(TOKENS))])] = value
        else:
            parent[key] = value
    return {"params.yaml": yaml.dump(tree, allow_unicode=bool(rng.integers(2))).encode(errors="surrogatepass")}


def _overrides(files: Files, rng: Generator) -> dict[str, bytes]:
    keys = (
        "seed",
        "repeats",
        "node_classification.eps_a",
        "node_classification.search.l_x",
        "datasets",
        "solver",
        "a.b.c",
        "",
        "node_classification",
        ".",
        "node_embedding.p",
        "graph_classification.eps",
        "seed.x",
        "é",
        "runner",
    )
    texts = (
        *TOKENS,
        "[1, 2]",
        '"inf"',
        "{}",
        "[]",
        "1e400",
        '{"a": 1}',
        "[[1]]",
        "NaN",
        "Infinity",
        '"\\ud800"',
        "1" * 5000,
    )
    drawn = [
        rng.choice(
            [f"{keys[rng.integers(len(keys))]}={texts[rng.integers(len(texts))]}", str(texts[rng.integers(len(texts))])]
        )
        for _ in range(int(rng.integers(1, 4)))
    ]
    return {**files, "set": json.dumps([str(text) for text in drawn]).encode()}


KEY = {"step": "draw", "seed": 0}
EXPECTED = np.arange(5)


def _compute(folder: Path) -> None:
    np.savez(folder / "report.npz", values=EXPECTED)
    (folder / "ledger.json").write_text("[]")


def _stored() -> list[Target]:
    with tempfile.TemporaryDirectory() as place:
        point = PointStore(Path(place)).point(KEY, _compute, label="draw")
        files = {path.name: path.read_bytes() for path in point.folder.iterdir()}
    ledger = _edges("1", "directed").ledger
    return [
        Target("point store", [files], partial(_read_point, digest=point.digest, exported=False)),
        Target("exported points", [files], partial(_read_point, digest=point.digest, exported=True)),
        Target("ledger.json", [{"ledger.json": Ledger((ledger,)).to_json().encode()}], _read_ledger, named=("ledger",)),
    ]


def _read_point(folder: Path, *, digest: str, exported: bool) -> None:
    """A damaged point must be made again: whole, of the right content, and with nothing beside it."""
    root = folder.parent / "store"
    place = folder.parent / "exported" / digest if exported else root / "points" / digest
    place.parent.mkdir(parents=True)
    shutil.move(folder, place)
    try:
        store = PointStore(root, (folder.parent / "exported",))
        for cached in (None, True):
            ref = store.point(KEY, _compute, label="draw")
            assert cached is None or ref.cached
            with np.load(ref.file("report.npz"), allow_pickle=False) as stored:
                assert np.array_equal(stored["values"], EXPECTED)
            assert ref.file("ledger.json").read_text() == "[]"
        assert not list((root / "temporary").iterdir())
    finally:
        shutil.rmtree(root)
        shutil.rmtree(folder.parent / "exported", ignore_errors=True)


def _read_ledger(folder: Path) -> None:
    path = folder / "ledger.json"
    ledger = Ledger.from_json(path.read_text(errors="replace") if path.exists() else "")
    for dataset in ledger.datasets():
        ledger.deployments(dataset)
        ledger.released(dataset)


def _edges(epsilon: str, mode: EdgeMode) -> EdgeReport:
    return randomise_neighbour_lists(samples.ADJACENCY, epsilon, mode, generator(0), 9, True, dataset="toy")


def _reports() -> list[Target]:
    line = _edges("1", "directed").ledger
    (degree, counts, listed, matrices, training, walked) = (
        replace(line, deployment_key=slot)
        for slot in ("degree", "counts", "encoded lists", "structural matrices", "training", "walks")
    )
    toy: dict[str, Any] = {"dataset": "toy", "simulated": True}
    rows = np.array([[1.5, 2], [3, 4]], dtype=np.float32)
    tree = ClusterTree("random", "balanced", np.array([(0, 1), (6, 2), (3, 4), (7, 8), (9, 5)], dtype=np.int32))
    embeddings = [np.full((n, 4), 0.25) for n in (3, 1, 2)]
    update = ModelUpdate(1, 2, 3, np.arange(5, dtype=np.float32), ValidationCounts(4, 3, 1.5), training)
    made: dict[str, Sequence[Any]] = {
        "edge report": [_edges("1", "directed"), _edges("inf", "pair")],
        "feature report": [
            encode_features(csr_array(np.eye(6, 4)), (0, 1), eps, generator(0), **toy) for eps in ("5", "inf")
        ],
        "label report": [reveal_labels(np.arange(6) % 2, np.arange(3), np.arange(3, 5), classes=2, dataset="toy")],
        "embedding report": [
            encode_embeddings(embeddings, *case, generator(0), **toy)
            for case in (("per_row", "9"), ("paper", "1/n"), ("row", "inf"), ("gaussian_scale", "1"))
        ],
        "degree report": [DegreeReport("1", np.array([3, -1, 0]), degree)],
        "neighbour count report": [NeighbourCountReport("1", 2, np.ones((3, 2, 2), dtype=np.int32), counts)],
        "encoded list report": [
            EncodedListReport("1", True, np.array([0, 2, 2, 3]), np.array([0, 2, 2], dtype=np.int32), listed)
        ],
        "structural matrix report": [StructuralMatrixReport("1", rows, np.array([0, 1, 2]), rows, matrices)],
        "model update": [update],
        "model weights": [initial_weights(GraphArchitecture("gcn", 3, 2, "graph"), 0)],
        "cluster tree": [tree],
    }
    targets = [
        Target(name, samples.of_reports(reports), partial(_read_report, kind=type(reports[0])))
        for name, reports in made.items()
    ]
    with tempfile.TemporaryDirectory() as place:
        walks = np.array([[0, 1, 2, 3], [4, 5, END, END]], dtype=np.int32)
        corpus = WalkCorpus.write(Path(place), [walks, walks[::-1]], nodes=6, length=4)
        WalkReport(corpus, "1", 0.2, "triadic", Traffic(6, 90, 4, 60), walked).save()
        files = {path.name: path.read_bytes() for path in Path(place).iterdir()}
    return [*targets, Target("walk report", [files], _read_walks)]


def _read_report(folder: Path, *, kind: Any) -> None:
    """Loads, and does what the receiver does first."""
    report = kind.load(folder / "report.npz")
    if isinstance(report, EdgeReport):
        report.adjacency()
    elif isinstance(report, FeatureReport):
        rectified(report)
    elif isinstance(report, ClusterTree):
        assert 0 < report.depth < 2 * report.leaves
    if not isinstance(report, (ClusterTree, StructuralMatrixReport)):
        report.digest()


def _read_walks(folder: Path) -> None:
    report = WalkReport.load(folder)
    report.corpus.frequencies()
    assert report.traffic.messages_per_walk >= 0
    assert report.traffic.bytes_per_walk >= 0
