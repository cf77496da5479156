"""Hyper-parameter search: the engine against other ways to train the same points, epochs and validation.

64 points (learning rate x dropout x weight decay) on Cora at eps_x = 1 and eps_a = 7, and every eighth of them on
facebook at eps_a = 8, once per backbone. The rivals (``--sides``) have the whole machine, two cores, as the engine has:

- ``loop``: one dgl model after the other, with two threads of dgl and torch;
- ``two_loops``, the harder one: two such loops with one thread each, that share the points;
- ``torch``: the engine with its plain torch blocks in place of the compiled ones, as it runs on a GPU.

Equality comes first: without dropout, in float64, the logits of all models after 20 epochs on Cora must be those of
dgl. Sides alternate, and the least disturbed run of each counts.

Run: ``python -m benchmarks.search [--dataset cora] [--sides torch ...] [--points N] [--epochs N] [--json FILE]``.
Needs the data sets (network, or GRAPH_DATA_MIRROR).
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from benchmarks.reporting import Measured, Work, compared, measured, publish
from tasks.client.labels import reveal_labels
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.curator.engine import batch_planner
from tasks.curator.engine.batch_planner import BatchPlanner
from tasks.curator.engine.compiled.block import Block
from tasks.curator.engine.plain_torch.block import TorchBlock
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.fitting import Targets, fit
from tasks.curator.hyper_parameters import HyperParameters, grid
from tasks.curator.rectify import AffineSparse, rectified
from tasks.curator.trained import Trained
from tasks.curator.training import train
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.graph import RawGraph
from tasks.datasets.splits import random_split
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture, Backbone, xavier_weights
from tasks.models.networks import build_network
from tasks.seeds import generator

RAW = Path(__file__).resolve().parents[1] / ".cache" / "benchmarks"
RATES = (1e-4, 1e-3, 1e-2, 1e-1)
POINTS = grid(RATES, RATES, RATES)
SEED = 0
TOLERANCE = 1e-6
MEMORY_LIMIT_MB = 4000


def problem_of(dataset: str, eps_x: str, eps_a: str) -> Problem:
    """The reports of a public set, drawn with a fixed seed."""
    fetch_dataset(dataset, RAW)
    graph = load_dataset(dataset, RAW)
    assert isinstance(graph, RawGraph) and graph.features is not None and graph.labels is not None
    rng = generator(SEED)
    split = random_split(graph.labels, rng)
    edges = randomise_neighbour_lists(graph.adjacency, eps_a, "directed", rng, MEMORY_LIMIT_MB, True, dataset=dataset)
    features = encode_features(graph.features, graph.feature_bounds, eps_x, rng, True, dataset=dataset)
    classes = int(graph.labels.max()) + 1
    labels = reveal_labels(graph.labels, split.train, split.validation, classes=classes, dataset=dataset)
    return Problem(edges.adjacency(), rectified(features), labels, SEED)


def largest_difference(problem: Problem, backbone: Backbone) -> float:
    """Between logits of the engine and of dgl after 20 epochs in float64, over all learning rates."""
    points = grid(RATES, [0.0], [1e-3])
    planner = BatchPlanner([problem], [points], EngineSettings(backbone, epochs=20, precision="float64"))
    (group_key,) = planner.waiting
    shared = planner.shared(group_key)
    block = Block(shared, len(points))
    for slot, point in enumerate(points):
        block.load(slot, point)
    for _ in range(20):
        block.step()
    cpu, double, features = torch.device("cpu"), torch.float64, problem.features
    assert isinstance(features, AffineSparse)
    shape = Architecture(backbone, features.shape[1], problem.labels.classes)
    network = build_network(shape, problem.graph, device=cpu, form="dgl", dtype=double)
    inputs = affine_input(features.constant, features.sparse, dtype=double, device=cpu)
    weight_seed = int(generator(SEED).integers(2**63, size=2)[0])
    start = xavier_weights(shape, torch.Generator().manual_seed(weight_seed))
    differences = []
    for slot, point in enumerate(points):
        network.load(start)
        fit(network, inputs, Targets.of(problem.labels, cpu), point, epochs=20, patience=None, dropout_seed=0)
        expected = network.logits(network.hidden(inputs)).detach().numpy()
        differences.append(np.abs(expected - block.logits(slot)).max())
    return float(max(differences))


def quality(trained: Trained) -> dict[str, float]:
    """Validation of the chosen point."""
    row = trained.search.iloc[trained.chosen]
    return {name: float(row[name]) for name in ("validation_accuracy", "validation_loss")}


def engine(dataset: str, eps_a: str, backbone: Backbone, points: tuple[HyperParameters, ...], epochs: int) -> Work:
    """Ours, on all cores."""
    problem, settings = problem_of(dataset, "1", eps_a), EngineSettings(backbone, epochs=epochs)
    toy = reveal_labels(np.array([0, 1, 0, 1]), np.arange(2), np.arange(2, 4), classes=2, dataset="toy")
    empty = csr_array((4, 4), dtype=np.float64)
    train_batch([Problem(empty, AffineSparse(0.0, empty), toy, 0)], [points], replace(settings, epochs=1))
    return lambda: quality(train_batch([problem], [points], settings).trained[0])


def plain_torch(dataset: str, eps_a: str, backbone: Backbone, points: tuple[HyperParameters, ...], epochs: int) -> Work:
    """The same with torch blocks: as many at a time, of as many models. The process is of this measurement alone."""
    batch_planner.make_block = TorchBlock
    return engine(dataset, eps_a, backbone, points, epochs)


def loop(
    dataset: str, eps_a: str, backbone: Backbone, points: tuple[HyperParameters, ...], epochs: int, threads: int = 2
) -> Work:
    """The baseline: one dgl model after the other."""
    problem = problem_of(dataset, "1", eps_a)
    options: Any = {"backbone": backbone, "seed": SEED, "device": "cpu", "form": "dgl", "threads": threads}
    assert isinstance(problem.features, AffineSparse)
    parts = (problem.graph, problem.features, problem.labels)
    train(*parts, grid=points[:1], epochs=1, **options)
    return lambda: quality(train(*parts, grid=points, epochs=epochs, **options))


def two_loops(dataset: str, eps_a: str, backbone: Backbone, points: tuple[HyperParameters, ...], epochs: int) -> Work:
    """The harder baseline: two loops with one thread each, in processes that are ready before the clock starts."""
    pool = multiprocessing.get_context("spawn").Pool(2)
    arguments = (dataset, eps_a, backbone)
    pool.map(_half, [(arguments, points[:1], 1)] * 2, chunksize=1)
    halves = [(arguments, points[start::2], epochs) for start in range(2)]

    def work() -> dict[str, float]:
        ends = pool.map(_half, halves, chunksize=1)
        best = max(ends, key=lambda end: (end["validation_accuracy"], -end["validation_loss"]))
        return {**best, "resident_mb": sum(end["resident_mb"] for end in ends)}

    return work


@cache
def _loop_of(
    dataset: str, eps_a: str, backbone: Backbone
) -> Callable[[tuple[HyperParameters, ...], int], dict[str, float]]:
    problem = problem_of(dataset, "1", eps_a)
    features = problem.features
    assert isinstance(features, AffineSparse)

    def run(points: tuple[HyperParameters, ...], epochs: int) -> dict[str, float]:
        return quality(
            train(
                problem.graph, features, problem.labels, backbone=backbone, grid=points, epochs=epochs,
                seed=SEED, device="cpu", form="dgl", threads=1,
            )
        )  # fmt: skip

    return run


def _half(task: tuple[tuple[str, str, Backbone], tuple[HyperParameters, ...], int]) -> dict[str, float]:
    arguments, points, epochs = task
    found = _loop_of(*arguments)(points, epochs)
    return {**found, "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


SIDES: dict[str, Callable[..., Work]] = {"loop": loop, "two_loops": two_loops, "torch": plain_torch}


@dataclass(frozen=True)
class DataSet:
    """``step``: every how many-th point is trained, ``rounds``: how often the sides take turns."""

    name: str
    eps_a: str
    step: int
    rounds: int


DATA_SETS = {"cora": DataSet("cora", "7", 1, 2), "facebook": DataSet("facebook", "8", 8, 1)}


def cases_of(
    dataset: DataSet, backbone: Backbone, points: tuple[HyperParameters, ...], epochs: int, sides: Sequence[str]
) -> list[dict[str, Any]]:
    """One line of the table for each rival of the engine."""
    arguments = (dataset.name, dataset.eps_a, backbone, points, epochs)
    runs: dict[str, list[Measured]] = {side: [] for side in ("engine", *sides)}
    for _ in range(dataset.rounds):
        for side, measurements in runs.items():
            prepare, repeats = (engine, 5) if side == "engine" else (SIDES[side], 1)
            measurements.append(measured(prepare, *arguments, repeats=repeats))
    ours, *rivals = (min(measurements, key=attrgetter("seconds")) for measurements in runs.values())
    what = f"{dataset.name} eps_x=1 eps_a={dataset.eps_a} {backbone}, {len(points)} points of {epochs} epochs"
    steps = len(points) * epochs
    return [
        compared(
            f"{what} against {side}",
            rival,
            ours,
            ours_ms_per_model_epoch=1e3 * ours.seconds / steps,
            baseline_ms_per_model_epoch=1e3 * rival.seconds / steps,
            quality=ours.value,
            baseline_quality=rival.value,
        )
        for side, rival in zip(sides, rivals, strict=True)
    ]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", nargs="+", choices=DATA_SETS, default=[*DATA_SETS], help="default: both")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=[*SIDES], help="the engine's rivals; default: all")
    parser.add_argument("--points", type=int, default=len(POINTS), help="at most this many, evenly spaced")
    parser.add_argument("--epochs", type=int, default=20, help="of every model (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the cases there, as a JSON array")
    return parser


def main() -> int:
    """Runs the cases that were asked for."""
    request, cases = parser().parse_args(), []
    for dataset in (DATA_SETS[name] for name in request.dataset):
        step = max(dataset.step, -(-len(POINTS) // max(1, request.points)))
        for backbone in BACKBONES:
            equality = {}
            if dataset.name == "cora":
                difference = largest_difference(problem_of("cora", "1", dataset.eps_a), backbone)
                print(f"cora {backbone}: logits differ by at most {difference:.1e} from dgl's after 20 epochs")
                if difference > TOLERANCE:
                    raise SystemExit(f"more than {TOLERANCE}: the two sides do not do the same work")
                equality["largest_difference"] = difference
            found = cases_of(dataset, backbone, POINTS[::step], request.epochs, request.sides)
            cases += [{**case, **equality} for case in found]
    status = publish(cases, request.json)
    for case in cases:
        ours, rival = (case[name]["validation_accuracy"] for name in ("quality", "baseline_quality"))
        peak = case["baseline_quality"].get("resident_mb", case["baseline_peak_mb"])
        print(f"{case['case']}: validation {ours:.4f}, the other {rival:.4f} with {peak:.1f} MB at peak")
    return status


if __name__ == "__main__":
    sys.exit(main())
