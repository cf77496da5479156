"""FedWalk's second phase, and the other ways to get walks that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flows.context.study import Study
from flows.execution.submission import Call
from flows.studies.node_embedding.grid import LISTS_MODE, Cell, Wanted, line_costs
from flows.studies.node_embedding.trees import Tree, Trees
from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.epsilon import INFINITE
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.profiles import section_of
from tasks.reports.ledgers.budget import require_within
from tasks.reports.ledgers.units import spent_on_entries
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.tree import TREE
from tasks.steps.node_embedding.walks import encode_lists, walk_devices, walk_reported_lists, walk_true_graph
from tasks.store import PointRef


@dataclass(frozen=True)
class Walks:
    """What an embedding is learned from.

    Attributes:
        corpus: the walks.
        uploads: what the server received in place of the graph, None for DeepWalk, where it has the graph.
        form: of the uploads: ``walks``, ``encoded lists`` or ``noisy lists``.
        reports: every report that the users sent.
    """

    corpus: PointRef
    uploads: PointRef | None = None
    form: str = ""
    reports: tuple[PointRef, ...] = ()


AllWalks = dict[tuple[Cell, int], Walks]
"""By cell and repeat."""


def all_walks(study: Study, sources: dict[str, RawSource], trees: Trees, wanted: Sequence[Wanted]) -> AllWalks:
    """The walks of the wanted lines, in their order; a line whose tree could not be built has none."""
    made = (
        _walks_in_clear(study, sources, wanted)
        | _walks_of_devices(study, sources, trees, wanted)
        | _walks_over_lists(study, sources, trees, wanted)
    )
    cells = [(Cell.of(line, _bins(trees, line)), line.repeat) for line in wanted]
    return {key: made[key] for key in cells if key in made}


def _walks_of_devices(study: Study, sources: dict[str, RawSource], trees: Trees, wanted: Sequence[Wanted]) -> AllWalks:
    """The protocol: devices pass walks on and upload them encoded."""
    calls: dict[tuple[Cell, int], Call] = {}
    for line, tree in _with_tree(trees, [line for line in wanted if line.line.mode.startswith("walk")]):
        cell = Cell.of(line, tree.k)
        call = study.call(
            walk_devices,
            "walk",
            cell,
            line.repeat,
            key=(cell, line.repeat, tree),
            source=sources[line.dataset],
            tree=tree.point,
            eps_encoder=line.line.eps_encoder,
            p=float(line.line.p),
            walks=line.line.walks,
        )
        # Two ways to name a number of bins are one cell, the first.
        calls.setdefault((cell, line.repeat), call)
    return {
        (cell, repeat): Walks(point, point, "walks", (*tree.reports, point))
        for (cell, repeat, tree), point in study.collect(calls.values()).items()
    }


def _walks_over_lists(study: Study, sources: dict[str, RawSource], trees: Trees, wanted: Sequence[Wanted]) -> AllWalks:
    """Devices report their lists once, encoded or under randomised response; the server walks those."""
    received: AllWalks = {}
    encoding: dict[tuple[Cell, int], Call] = {}
    for line, tree in _with_tree(trees, [line for line in wanted if line.line.mode == "release-once"]):
        _require_lists(study, line, tree)
        lists = Cell.of(line, tree.k, walks=False)
        call = study.call(
            encode_lists,
            "encode lists",
            lists,
            line.repeat,
            key=(lists, line.repeat, tree),
            source=sources[line.dataset],
            tree=tree.point,
            eps_encoder=line.line.eps_encoder,
            degrees=tree.reports[0] if line.line.pad else None,
        )
        encoding.setdefault((lists, line.repeat), call)
    for (lists, repeat, tree), point in study.collect(encoding.values()).items():
        received[lists, repeat] = Walks(point, point, "encoded lists", (*tree.reports, point))
    for key, point in study.collect(_randomise(study, sources, wanted)).items():
        received[key] = Walks(point, point, "noisy lists", (point,))

    walking: dict[tuple[Cell, int], Call] = {}
    for line in wanted:
        lists = Cell.of(line, _bins(trees, line), walks=False)
        found = received.get((lists, line.repeat))
        if found is None:
            continue
        cell = replace(lists, walks=str(line.line.walks))
        call = study.call(
            walk_reported_lists,
            f"walk over {found.form}",
            cell,
            line.repeat,
            key=(cell, line.repeat, found),
            lists=found.corpus,
            encoded=found.form == "encoded lists",
            walks=line.line.walks,
        )
        walking.setdefault((cell, line.repeat), call)
    return {
        (cell, repeat): replace(lists, corpus=corpus)
        for (cell, repeat, lists), corpus in study.collect(walking.values()).items()
    }


def _walks_in_clear(study: Study, sources: dict[str, RawSource], wanted: Sequence[Wanted]) -> AllWalks:
    """DeepWalk's walks: the baseline of a server that has the graph."""
    calls = (
        study.call(
            walk_true_graph,
            "walk",
            Cell.of(line),
            line.repeat,
            source=sources[line.dataset],
            walks=line.line.walks,
        )
        for line in wanted
        if line.line.mode == "deepwalk"
    )
    return {key: Walks(corpus) for key, corpus in study.collect(calls).items()}


def _randomise(study: Study, sources: dict[str, RawSource], wanted: Sequence[Wanted]) -> Iterator[Call]:
    asked = [line for line in wanted if line.line.mode == "randomized-response"]
    for cell, repeat in dict.fromkeys((Cell.of(line, walks=False), line.repeat) for line in asked):
        source, eps_a = sources[cell.dataset], cell.eps_encoder
        yield study.call(perturb_edges, "perturb lists", cell, repeat, source=source, mode=LISTS_MODE, eps_a=eps_a)


def _with_tree(trees: Trees, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Tree]]:
    return ((line, trees[line.tree]) for line in wanted if line.tree in trees)


def _bins(trees: Trees, wanted: Wanted) -> str:
    return trees[wanted.tree].k if wanted.tree in trees else ""


def _require_lists(study: Study, wanted: Wanted, tree: Tree) -> None:
    """UserError where lists that are released once under this tree cost more than the declared budget."""
    grid, line = section_of(study.profile, NodeEmbedding), wanted.line
    if grid.budget == INFINITE:
        return
    worst = worst_release_budget(ClusterTree.load(tree.point.file(TREE)), line.eps_encoder)
    costs = {**line_costs(grid, line), "encoded lists": spent_on_entries(worst, line.pad)}
    require_within(costs, grid.budget, dataset=f"{wanted.dataset} {line.mode}")
