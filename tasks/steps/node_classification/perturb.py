"""Steps on the users' side: each draws one report, once, as a point of its own."""

from __future__ import annotations

from tasks.client.labels import reveal_labels
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.datasets.label_rates import FULL, with_label_rate
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.reports.edge_mode import EdgeMode
from tasks.seeds import generator
from tasks.steps.declaration import Draft, Given
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.report_point import Report, client_report, drawn
from tasks.steps.split import SPLIT
from tasks.store import PointRef

STUDY = "node_classification"
FREE = "random-features, constant-features, label-propagation"


@client_report("edges", study=STUDY, point="{mode} eps_a={eps_a}")
def perturb_edges(
    draft: Draft,
    source: RawSource,
    *,
    mode: EdgeMode,
    eps_a: str,
    repeat: int,
    seed: int | None,
    memory_limit_mb: int,
) -> Report:
    """Randomised response on every neighbour list (Solitude, eq. 4)."""
    graph = one_graph(source, STUDY)
    return randomise_neighbour_lists(
        graph.adjacency, eps_a, mode, memory_limit_mb=memory_limit_mb, **drawn(draft, graph)
    )


@client_report("features", study=STUDY, point="eps_x={eps_x}")
def perturb_features(draft: Draft, source: RawSource, *, eps_x: str, repeat: int, seed: int | None) -> Report:
    """The multi-bit mechanism on every feature vector (Solitude, eq. 7 to 9)."""
    graph = one_graph(source, STUDY)
    if graph.features is None:
        raise UserError(f"{graph.name} has no node features; give some, or choose methods that need none: {FREE}")
    return encode_features(graph.features, graph.feature_bounds, eps_x, **drawn(draft, graph))


def _reduced(of: Given) -> dict[str, str]:
    return {} if of.label_rate == FULL else {"label_rate": f"{of.label_rate:g}", "order": str(of.order)}


@client_report("labels", study=STUDY, point="in clear", inputs=_reduced)
def report_labels(
    draft: Draft, source: RawSource, split: PointRef, *, repeat: int, label_rate: float = FULL, order: int = 0
) -> Report:
    """The labels that the method assumes the curator knows: training and validation nodes, in clear.

    Below the full rate ``order`` is the seed of the order in which training nodes are taken; it is public.
    """
    graph = one_graph(source, STUDY)
    if graph.labels is None:
        raise UserError(f"{graph.name} has no labels; node classification needs some")
    try:
        parts = with_label_rate(Split.load(split.file(SPLIT)), label_rate, generator(order))
    except UserError as error:
        raise UserError(f"{graph.name}: {error}; take a larger one of label_rates or label more nodes") from None
    return reveal_labels(
        graph.labels,
        parts.train,
        parts.validation,
        classes=graph.classes,
        dataset=graph.name,
        notes=graph.notes,
        charge=draft.charge,
    )
