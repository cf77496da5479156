"""Steps that make walks: on the devices, over lists that the devices released once, or (DeepWalk) on the true graph."""

from __future__ import annotations

from pathlib import Path

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.protocol import expected_messages
from tasks.client.fedwalk.walks import release_walks
from tasks.client.noise_source import noise_generator
from tasks.code_version import code_version
from tasks.curator.fedwalk.list_walks import walk_lists
from tasks.datasets.graph import RawGraph
from tasks.evaluation.node_embedding.deepwalk import deepwalk_corpus
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walks import WalkReport
from tasks.reports.ledgers.ledger import LedgerLine
from tasks.seeds import generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.node_embedding.tree import STUDY, TREE
from tasks.steps.point import point_task
from tasks.steps.report_point import client_point, one_graph
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore


@point_task()
def walk_devices(
    store: PointStore,
    source: RawSource,
    tree: PointRef,
    *,
    eps_encoder: str,
    p: float,
    walks: int,
    length: int,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """The devices pass walks on and upload encoded ones; nothing is claimed for a whole walk."""

    def draw(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        report = release_walks(
            neighbour_lists(graph.adjacency, dataset=graph.name),
            ClusterTree.load(tree.file(TREE)),
            eps_encoder,
            folder,
            noise_generator(noise_seed),
            dataset=graph.name,
            simulated=noise_seed is not None,
            walks=walks,
            length=length,
            skip=p,
            notes=graph.notes,
        )
        return report.ledger

    return client_point(
        store,
        source,
        draw,
        study=STUDY,
        module="tasks.client.fedwalk.walks",
        kind="walks",
        point=f"eps_encoder={eps_encoder} p={p} walks={walks} length={length}",
        repeat=repeat,
        seed=seed,
        inputs={"tree": tree.content},
    )


@point_task()
def encode_lists(
    store: PointStore,
    source: RawSource,
    tree: PointRef,
    *,
    eps_encoder: str,
    degrees: PointRef | None = None,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """Each device encodes each entry of its list once (``release-once``).

    With ``degrees``, the devices' noisy ones, every list is padded or cut to its published degree.
    """

    def draw(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        report = release_lists(
            neighbour_lists(graph.adjacency, dataset=graph.name),
            ClusterTree.load(tree.file(TREE)),
            eps_encoder,
            noise_generator(noise_seed),
            dataset=graph.name,
            simulated=noise_seed is not None,
            published_degrees=None if degrees is None else DegreeReport.load(degrees.file(REPORT)).degrees,
            notes=graph.notes,
        )
        report.save(folder / REPORT)
        return report.ledger

    return client_point(
        store,
        source,
        draw,
        study=STUDY,
        module="tasks.client.fedwalk.encoded_lists",
        kind="encoded lists",
        point=f"eps_encoder={eps_encoder}",
        repeat=repeat,
        seed=seed,
        inputs={"tree": tree.content} | ({} if degrees is None else {"degrees": degrees.content}),
    )


@point_task()
def walk_reported_lists(
    store: PointStore,
    lists: PointRef,
    *,
    encoded: bool,
    dataset: str,
    walks: int,
    length: int,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """The server walks noisy lists by itself: post-processing."""
    point = f"walks={walks} length={length}"
    walk_seed = curator_seed(seed, study=STUDY, dataset=dataset, point=point, repeat=repeat)

    def compute(folder: Path) -> None:
        report = (EncodedListReport if encoded else EdgeReport).load(lists.file(REPORT))
        walk_lists(report, folder, generator(walk_seed), walks=walks, length=length)

    key = {
        "step": "walk lists",
        "lists": lists.content,
        "walks": walks,
        "length": length,
        "seed": walk_seed,
        "code": code_version("tasks.curator.fedwalk.list_walks"),
    }
    return store.point(key, compute, label=f"walks over lists {dataset} {point} repeat={repeat}", private=lists.raw)


@point_task()
def walk_true_graph(
    store: PointStore, source: RawSource, *, walks: int, length: int, repeat: int, seed: int | None
) -> PointRef:
    """DeepWalk's centralised walks: the baseline without privacy, on the researcher's bench."""
    point = f"deepwalk walks={walks} length={length}"
    walk_seed = curator_seed(seed, study=STUDY, dataset=source.name, point=point, repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        graph = one_graph(source, STUDY)
        deepwalk_corpus(graph.adjacency, folder, generator(walk_seed), walks=walks, length=length)

    key = {
        "step": "deepwalk walks",
        "raw": source.content,
        "walks": walks,
        "length": length,
        "seed": walk_seed,
        "code": code_version("tasks.evaluation.node_embedding.deepwalk"),
    }
    label = f"{point} {source.name} repeat={repeat}"
    return store.point(key, compute, label=label, private=source.private)


def read_traffic(walks: PointRef, *, private: bool) -> dict[str, float]:
    """What a walk of devices cost, and the messages that the protocol's formula expects.

    Of a private graph the formula alone: a device with one neighbour never skips, so the count tells of degrees.
    """
    report = WalkReport.load(walks.folder)
    expected = {"expected_messages": expected_messages(report.corpus.length, report.skip)}
    if private:
        return expected
    return {
        "messages_per_walk": report.traffic.messages_per_walk,
        **expected,
        "bytes_per_walk": report.traffic.bytes_per_walk,
    }
