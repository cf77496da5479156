"""Declared budgets: a deployment that costs a user more is refused before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from flows.embedding_lines import Line, Wanted
from flows.fedwalk_trees import Tree
from flows.graph_reports import embedding_grid
from flows.study import Study
from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.epsilon import INFINITE
from tasks.parameters.embedding import NodeEmbedding
from tasks.reports.composition import require_within
from tasks.steps.tree import TREE


def require_graphs(study: Study) -> None:
    """A graph's embedding has a budget, training has none: no finite budget holds for both.

    Raises:
        UserError: for any finite budget.
    """
    for dataset in study.datasets:
        costs = {"model updates, in clear": INFINITE}
        require_within(costs, embedding_grid(study).budget, dataset=dataset)


def require_walks(study: Study, wanted: Sequence[Wanted]) -> None:
    """What every line costs, but for encoded lists, whose cost depends on the tree.

    Raises:
        UserError: for a line above the declared budget.
    """
    grid = study.profile.node_embedding
    for line in wanted:
        require_within(_costs(grid, line.line), grid.budget, dataset=f"{line.dataset} {line.line.mode}")


def require_lists(study: Study, line: Wanted, tree: Tree) -> None:
    """Lists that are released once under this tree, and what the tree was built from.

    Raises:
        UserError: when they cost more than the declared budget.
    """
    grid = study.profile.node_embedding
    if grid.budget == INFINITE:
        return
    worst = worst_release_budget(ClusterTree.load(tree.point.file(TREE)), line.line.eps_encoder)
    costs = {**_costs(grid, line.line), "encoded lists": worst}
    require_within(costs, grid.budget, dataset=f"{line.dataset} {line.line.mode}")


def _costs(grid: NodeEmbedding, line: Line) -> dict[str, str]:
    if line.mode == "deepwalk":
        return {"the graph, in clear": INFINITE}
    if line.mode == "randomized-response":
        return {"edges": line.eps_encoder}
    costs = {"walks": INFINITE} if line.mode.startswith("walk") else {}
    if line.tree == "private":
        costs |= {"degree": grid.eps_degree, "counts": grid.eps_counts}
    return costs
