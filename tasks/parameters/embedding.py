"""The section of params.yaml for node embedding: ways to get walks, and what is learned from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tasks.parameters.values import Budget, Budgets, Count, Counts, Distinct, Real, Section, Shares, Whole


def _bins(value: object) -> object:
    if value == "auto" or (str(value).isdecimal() and int(str(value)) >= 1):
        return value if value == "auto" else int(str(value))
    raise ValueError("must be auto or a whole number of 1 or more")


def _auto_alone(values: list[Any]) -> list[Any]:
    if "auto" in values and len(values) > 1:
        raise ValueError("auto is a number too, floor(ln V); give it alone or name the numbers")
    return values


Bins = Annotated[Literal["auto"] | int, BeforeValidator(_bins)]
TrainRatio = Annotated[Real, Field(gt=0, lt=1, allow_inf_nan=False)]
EmbeddingMode = Literal[
    "deepwalk", "walk", "walk-random-tree", "walk-paper-tree", "release-once", "randomized-response"
]
EmbeddingModes = Annotated[list[EmbeddingMode], Field(min_length=1), Distinct]
BinCounts = Annotated[list[Bins], Field(min_length=1), Distinct, AfterValidator(_auto_alone)]


class EmbeddingGrid(Section):
    """What the lines of the embedding table are the product of; a mode reads those that it has.

    ``pad``: lists that are released once have the published noisy degree as their length, not their own.
    """

    modes: EmbeddingModes = ["deepwalk", "walk"]
    """Ways to get walks."""
    eps_encoder: Budgets = ["2"]
    """Budgets of the encoder, paid at each level of the tree; of ``randomized-response``, of one bit of a list."""
    p: Shares = [0.2]
    """Chance that a hop is predicted instead of made."""
    bins: BinCounts = ["auto"]
    """Number of public bins (k) by which neighbours are counted; ``auto`` is floor(ln V)."""
    walks: Counts = [80]
    """Walks from each vertex."""
    pad: bool = True
    """Lists of ``release-once`` are padded or cut to the published noisy degree; without it the exact degree is sent
    in clear."""


class EmbeddingPart(Section):
    """More lines for the table, those of a grid of their own; what a part does not name is the study's.

    ``datasets`` are those that have these lines.
    """

    datasets: Annotated[list[str], Field(min_length=1), Distinct] | None = None
    repeats: Count | None = None
    modes: EmbeddingModes | None = None
    eps_encoder: Budgets | None = None
    p: Shares | None = None
    bins: BinCounts | None = None
    walks: Counts | None = None
    pad: bool | None = None


class NodeEmbedding(EmbeddingGrid):
    """The FedWalk study: private random walks, skip-gram, F1.

    ``repeats``, here and in a part, lowers the profile's.
    """

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["digits"]
    """Graphs, with or without classes."""
    repeats: Count | None = None
    """Lowers the profile's number of repeats."""
    parts: list[EmbeddingPart] = []
    """More lines: sub-grids that name what differs, also ``datasets`` and ``repeats`` of their own."""
    budget: Budget = "inf"
    """A deployment above it is refused; a finite one refuses walks, and encoded lists whose tree makes them dearer."""
    eps_degree: Budget = "1"
    """Budget of a published degree."""
    eps_counts: Budget = "1"
    """Budget of the counts of neighbours."""
    length: Annotated[Whole, Field(ge=3, le=65535)] = 40
    """Vertices of a walk."""
    linkage: Literal["balanced", "average", "complete"] = "balanced"
    """How the tree is built."""
    dimensions: Count = 128
    """Length of a vector."""
    window: Count = 10
    """Window of skip-gram."""
    train_ratios: Annotated[list[TrainRatio], Field(min_length=1), Distinct] = [0.1, 0.5, 0.9]
    """Shares of the labelled nodes that the logistic regressions learn from."""
    splits: Count = 10
    """Splits that each embedding is scored on."""
    threads: Count = 1
    """Threads of skip-gram; more than one is not reproducible."""
    memory_limit_mb: Count = 2000
    """Bound on one draw of all neighbour lists."""

    def grids(self, dataset: str, repeats: int) -> list[tuple[EmbeddingGrid, int]]:
        """The grid of the study and that of each part for a data set, with their repeats, at most ``repeats``."""
        own = {name: getattr(self, name) for name in EmbeddingGrid.model_fields}
        found = [(EmbeddingGrid(**own), min(self.repeats or repeats, repeats))]
        for part in self.parts:
            if part.datasets is None or dataset in part.datasets:
                named = part.model_dump(exclude_none=True, include=set(own))
                found.append((EmbeddingGrid(**own | named), min(part.repeats or self.repeats or repeats, repeats)))
        return found
