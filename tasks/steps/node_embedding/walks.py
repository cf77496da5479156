"""Steps that make walks: on the devices, over lists that the devices released once, or (DeepWalk) on the true graph."""

from __future__ import annotations

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.protocol import expected_messages
from tasks.client.fedwalk.walks import release_walks
from tasks.curator.fedwalk.list_walks import walk_lists
from tasks.evaluation.node_embedding.deepwalk import deepwalk_corpus
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walks import WalkReport
from tasks.reports.ledgers.ledger import LedgerLine
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.node_embedding.tree import STUDY, TREE
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.report_point import REPORT, Report, client_report, drawn
from tasks.steps.seeds import EVALUATION, Seed
from tasks.store import PointRef


@client_report("walks", study=STUDY, point="eps_encoder={eps_encoder} p={p} walks={walks} length={length}")
def walk_devices(
    draft: Draft,
    source: RawSource,
    tree: PointRef,
    *,
    eps_encoder: str,
    p: float,
    walks: int,
    length: int,
    repeat: int,
    seed: int | None,
) -> LedgerLine:
    """The devices pass walks on and upload encoded ones; nothing is claimed for a whole walk."""
    graph = one_graph(source, STUDY)
    report = release_walks(
        neighbour_lists(graph.adjacency, dataset=graph.name),
        ClusterTree.load(tree.file(TREE)),
        eps_encoder,
        draft.folder,
        walks=walks,
        length=length,
        skip=p,
        **drawn(draft, graph),
    )
    return report.ledger


@client_report("encoded lists", study=STUDY, point="eps_encoder={eps_encoder}")
def encode_lists(
    draft: Draft,
    source: RawSource,
    tree: PointRef,
    *,
    eps_encoder: str,
    degrees: PointRef | None = None,
    repeat: int,
    seed: int | None,
) -> Report:
    """Each device encodes each entry of its list once (``release-once``).

    With ``degrees``, the devices' noisy ones, every list is padded or cut to its published degree.
    """
    graph = one_graph(source, STUDY)
    return release_lists(
        neighbour_lists(graph.adjacency, dataset=graph.name),
        ClusterTree.load(tree.file(TREE)),
        eps_encoder,
        published_degrees=None if degrees is None else DegreeReport.load(degrees.file(REPORT)).degrees,
        **drawn(draft, graph),
    )


@point(
    "walk lists",
    label="walks over lists {dataset} walks={walks} length={length} repeat={repeat}",
    seed=Seed(STUDY, "walks={walks} length={length}"),
    ignore=("encoded", "dataset", "repeat"),
)
def walk_reported_lists(
    draft: Draft,
    lists: PointRef,
    *,
    encoded: bool,
    dataset: str,
    walks: int,
    length: int,
    repeat: int,
    seed: int | None,
) -> None:
    """The server walks noisy lists by itself: post-processing."""
    report = (EncodedListReport if encoded else EdgeReport).load(lists.file(REPORT))
    walk_lists(report, draft.folder, generator(draft.seed), walks=walks, length=length)


@point(
    "deepwalk walks",
    label="deepwalk walks={walks} length={length} {source.name} repeat={repeat}",
    seed=Seed(STUDY, "deepwalk walks={walks} length={length}", EVALUATION),
    ignore=("repeat",),
)
def walk_true_graph(draft: Draft, source: RawSource, *, walks: int, length: int, repeat: int, seed: int | None) -> None:
    """DeepWalk's centralised walks: the baseline without privacy, a part of the evaluation."""
    graph = one_graph(source, STUDY)
    deepwalk_corpus(graph.adjacency, draft.folder, generator(draft.seed), walks=walks, length=length)


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
