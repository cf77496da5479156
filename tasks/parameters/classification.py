"""The sections of params.yaml for node classification: its grid, its parts, and how hyper-parameters are searched."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from tasks.curator.methods import method_named
from tasks.datasets.label_rates import FULL
from tasks.errors import UserError
from tasks.parameters.values import (
    Budget,
    Budgets,
    Count,
    Distinct,
    NonNegative,
    Rate,
    Real,
    Section,
    Share,
    Steps,
    Whole,
)
from tasks.reports.edge_mode import EdgeMode


def _method(text: str) -> str:
    try:
        return method_named(text).name
    except UserError as error:
        raise ValueError(str(error)) from None


LabelRate = Annotated[Real, Field(gt=0, le=FULL, allow_inf_nan=False)]
MethodName = Annotated[str, AfterValidator(_method)]
MethodNames = Annotated[list[MethodName], Field(min_length=1), Distinct]
ClassificationBackbones = Annotated[list[Literal["gcn", "sage"]], Field(min_length=1), Distinct]
LabelRates = Annotated[list[LabelRate], Field(min_length=1), Distinct]
STATED = "searches of the file"


class Search(Section):
    """Hyper-parameters to choose from by validation, how much of their grid is tried, and when training stops.

    ``preset`` names a whole grid instead of the single axes. ``dgl`` trains one configuration after another through
    DGL's layers; ``batched`` trains those of a repeat together. ``smooth_loss`` lets the training loss, too, read the
    smoothed predictions. ``points``, a number of configurations, and ``minutes`` bound one search; with ``minutes`` the
    result depends on the machine.
    """

    engine: Literal["batched", "dgl"] = "batched"
    """``batched`` trains all configurations of a repeat together, ``dgl`` one after another through DGL's layers."""
    preset: Literal["paper", "lpgnn"] | None = None
    """A whole grid, ``paper`` or ``lpgnn``, instead of the single axes."""
    learning_rate: Annotated[list[Rate], Field(min_length=1), Distinct] = [0.01]
    """Learning rates of Adam."""
    dropout: Annotated[list[Share], Field(min_length=1), Distinct] = [0.5]
    """Shares of hidden values that are dropped."""
    weight_decay: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [0.001]
    """Weight decays of Adam."""
    l_x: Annotated[list[Steps], Field(min_length=1), Distinct] = [0, 4, 8, 16]
    """Steps by which features are smoothed over the graph."""
    l_y: Annotated[list[Steps], Field(min_length=1), Distinct] = [0, 2]
    """Steps by which predicted labels are smoothed."""
    lambda1: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [1e-4]
    """Weights of the learned graph's distance from the reported one."""
    lambda2: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [1e-4]
    """Weights of the sum of the learned graph's entries."""
    step_size: Annotated[Real, Field(gt=0, allow_inf_nan=False)] = 30.0
    """Length of a gradient step on the learned graph."""
    inner_steps: Count = 1
    """Gradient steps on the learned graph for each step of the network."""
    smooth_loss: bool = False
    """Whether the training loss, too, reads the smoothed predictions."""
    strategy: Literal["full", "random", "halving"] = "full"
    """``full`` trains all configurations, ``random`` some, ``halving`` all for a short time and the better ones on."""
    points: Count | None = None
    """How many configurations of the grid are tried."""
    minutes: Annotated[Real, Field(gt=0, allow_inf_nan=False)] | None = None
    """Bound on one search; the result then depends on the machine."""
    factor: Annotated[Whole, Field(ge=2)] = 3
    """Halving keeps one configuration in so many."""
    rungs: Count = 4
    """Halving chooses so many times."""
    epochs: Annotated[Whole, Field(ge=1, le=500)] = 500
    """Longest training."""
    patience: Count = 100
    """Epochs without a better validation score that end a training."""
    memory_mb: Count = 4000
    """Bound on what one batch of models takes."""

    @model_validator(mode="after")
    def _one_grid(self) -> Search:
        axes = {"learning_rate", "dropout", "weight_decay", "l_x", "l_y", "lambda1", "lambda2"}
        if self.preset and (named := sorted(axes & self.model_fields_set)):
            raise ValueError(f"preset {self.preset} is a whole grid; remove it or {', '.join(named)}")
        if self.strategy == "random" and self.points is None and self.minutes is None:
            raise ValueError("strategy random needs points, the number to draw, or minutes")
        if self.strategy == "full" and self.points is not None:
            raise ValueError("strategy full trains all points; use random or halving for a number of points")
        if self.engine == "dgl" and (self.strategy != "full" or self.minutes is not None or self.smooth_loss):
            raise ValueError(
                "engine dgl trains the full grid; use engine batched for another strategy, minutes or smooth_loss"
            )
        return self


class ClassificationGrid(Section):
    """What the lines of the classification table are the product of.

    ``label_rates`` are the shares of the labelled nodes whose labels train; 0.5 are all training nodes, and a smaller
    set is part of every larger one.
    """

    eps_x: Budgets
    """Budgets of a user's feature vector; ``inf`` is no noise."""
    eps_a: Budgets
    """Budgets of one bit of a user's neighbour list; ``inf`` is no noise."""
    mode: EdgeMode = "directed"
    """``directed``: every bit of every list, the paper's; ``directed-no-diagonal``: but for the user's own; ``pair``:
    each pair once."""
    methods: MethodNames = ["base"]
    """``base``, ``lpgnn``, ``solitude``, ``mutual``, ``bayes-hard``, ``bayes-soft``, ``random-features``,
    ``constant-features``, ``label-propagation``, ``non-private``, or a sum such as ``mutual + drop``."""
    backbones: ClassificationBackbones = ["gcn", "sage"]
    """Networks that are trained."""
    label_rates: LabelRates = [FULL]
    """Shares of the labelled nodes whose labels train; smaller sets are parts of larger ones, and 0.5 are all training
    nodes."""


class ClassificationPart(Section):
    """More lines for the table, those of a grid of their own; what a part does not name is the study's."""

    eps_x: Budgets | None = None
    eps_a: Budgets | None = None
    mode: EdgeMode | None = None
    methods: MethodNames | None = None
    backbones: ClassificationBackbones | None = None
    label_rates: LabelRates | None = None


class NodeClassification(ClassificationGrid):
    """The Solitude study: noisy neighbour lists and features, GNNs, accuracy.

    ``searches`` are grids of single methods, by name; ``search`` is that of the others. ``shared_choice`` adds, under
    its own label, every method with one configuration for all repeats.
    """

    datasets: Annotated[list[str], Field(min_length=1), Distinct]
    """Graphs with a class for each node."""
    parts: list[ClassificationPart] = []
    """More lines for the table: sub-grids, each naming what differs from the study's own."""
    shared_choice: bool = False
    """Adds a second, labelled protocol: one configuration of hyper-parameters for all repeats."""
    normalization: Literal["symmetric", "mean"] = "symmetric"
    """How the adjacency is normalised in a network."""
    smoothing: Literal["gcn", "paper"] = "gcn"
    """Matrix by which features and predictions are smoothed."""
    search: Search = Search()
    """Hyper-parameters of every method."""
    searches: dict[MethodName, Search] = {}
    """Those of single methods, by name."""
    budget: Budget = "inf"
    """A deployment (one report of each kind) above it is refused before anything is drawn."""
    memory_limit_mb: Annotated[Whole, Field(ge=1)] = 2000
    """Bound on one draw of all neighbour lists."""

    def search_for(self, method: str) -> Search:
        """The grid of a method."""
        return self.searches.get(method, self.search)

    def grids(self) -> list[ClassificationGrid]:
        """The study's own grid, then one for each part."""
        own = {name: getattr(self, name) for name in ClassificationGrid.model_fields}
        parts = [own | part.model_dump(exclude_none=True) for part in self.parts]
        return [ClassificationGrid(**grid) for grid in (own, *parts)]

    @model_validator(mode="after")
    def _dgl_trains_base(self) -> NodeClassification:
        methods = {name for grid in self.grids() for name in grid.methods}
        looped = {name for name in methods if self.search_for(name).engine == "dgl"}
        if others := sorted(looped - {"base", "non-private"}):
            raise ValueError(f"engine dgl trains base and non-private; use engine batched for {', '.join(others)}")
        if looped and self.shared_choice:
            raise ValueError("engine dgl has no shared_choice; use engine batched")
        return self

    @model_validator(mode="after")
    def _searches_are_used(self, info: ValidationInfo) -> NodeClassification:
        methods = {name for grid in self.grids() for name in grid.methods}
        methods |= (info.context or {}).get(STATED, set(self.searches))
        if unused := sorted(set(self.searches) - methods):
            raise ValueError(f"searches names {', '.join(unused)}, which no grid has; add the method or remove it")
        return self
