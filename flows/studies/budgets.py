"""Declared budgets: a deployment that costs a user more is refused before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flows.studies.node_classification.grid import UNREAD
from flows.studies.node_classification.grid import lines as classification_lines
from flows.studies.node_embedding.grid import Line, wanted_lines
from tasks.epsilon import INFINITE
from tasks.parameters.classification import NodeClassification
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.profiles import Profile
from tasks.reports.ledgers.composition import require_within


def check_budgets(name: str, profile: Profile, datasets: Sequence[str]) -> None:
    """What every line of a study or stage costs, but for encoded lists, whose cost depends on the tree.

    Raises:
        UserError: for a line above the declared budget.
    """
    match name:
        case "node_classification" | "perturb":
            for dataset in datasets:
                for costs in _classification_costs(profile.node_classification):
                    require_within(costs, profile.node_classification.budget, dataset=dataset)
        case "node_embedding":
            grid = profile.node_embedding
            for wanted in wanted_lines(grid, list(datasets), profile.repeats):
                costs = embedding_costs(grid, wanted.line)
                require_within(costs, grid.budget, dataset=f"{wanted.dataset} {wanted.line.mode}")
        case "graph_classification" | "ego_clustering":
            # A graph's embedding has a budget, training has none: no finite budget holds for both.
            for dataset in datasets:
                costs = {"model updates, in clear": INFINITE}
                require_within(costs, getattr(profile, name).budget, dataset=dataset)


def _classification_costs(grid: NodeClassification) -> Iterator[dict[str, str]]:
    for line in classification_lines(grid):
        yield {"edges": line.eps_a} if line.eps_x == UNREAD else {"features": line.eps_x, "edges": line.eps_a}


def embedding_costs(grid: NodeEmbedding, line: Line) -> dict[str, str]:
    """What a line costs beside encoded lists."""
    if line.mode == "deepwalk":
        return {"the graph, in clear": INFINITE}
    if line.mode == "randomized-response":
        return {"edges": line.eps_encoder}
    costs = {"walks": INFINITE} if line.mode.startswith("walk") else {}
    if line.tree == "private":
        costs |= {"degree": grid.eps_degree, "counts": grid.eps_counts}
    return costs
