"""params.yaml as a typed, validated model: the only source of the grid.

The file has a section per profile (``demo``, ``paper``) and ``datasets``, where users declare graphs of their
own. Unknown keys, wrong types and impossible values are one clear line that names the key.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from tasks.epsilon import INFINITE, PER_NODE, canonical_epsilon
from tasks.errors import UserError
from tasks.params_problem import problem, shortened
from tasks.reports.edge import EdgeMode

PROFILES = ("demo", "paper")
MOST_VALUES = 100_000
LEAST_BUDGET, LARGEST_BUDGET = 1e-6, 1e6


def study_budget(value: object, *, name: str = "epsilon", per_node: bool = False) -> str:
    """The canonical spelling of a budget that a study can work with.

    Raises:
        UserError: for no budget, or one so small or large that floating point has no answer.
    """
    canonical = canonical_epsilon(value, name=name, per_node=per_node)
    if canonical not in (INFINITE, PER_NODE) and not LEAST_BUDGET <= float(canonical) <= LARGEST_BUDGET:
        raise UserError(f"{name}: use a budget from {LEAST_BUDGET:g} to {LARGEST_BUDGET:g}, or inf for no noise")
    return canonical


def _budget(value: object, *, per_node: bool = False) -> str:
    try:
        return study_budget(value, per_node=per_node)
    except UserError as error:
        raise ValueError(str(error)) from None


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _distinct(values: list[Any]) -> list[Any]:
    repeated = [value for value in values if values.count(value) > 1]
    if repeated:
        raise ValueError(f"{repeated[0]!r} is listed twice")
    return values


def _bins(value: object) -> object:
    if value == "auto" or (str(value).isdecimal() and int(str(value)) >= 1):
        return value if value == "auto" else int(str(value))
    raise ValueError("must be auto or a whole number of 1 or more")


def _auto_alone(values: list[Any]) -> list[Any]:
    if "auto" in values and len(values) > 1:
        raise ValueError("auto is a number too, floor(ln V); give it alone or name the numbers")
    return values


def _method(text: str) -> str:
    from tasks.curator.methods import method_named  # imported on demand: it brings the calibrations with it

    try:
        return method_named(text).name
    except UserError as error:
        raise ValueError(str(error)) from None


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError("the lower bound must come first and be smaller")
    return bounds


Budget = Annotated[str, BeforeValidator(_budget)]
GraphBudget = Annotated[str, BeforeValidator(partial(_budget, per_node=True))]
# Strings that are numbers pass: PyYAML reads 1e-3 as a string.
Whole = Annotated[int, BeforeValidator(_no_switch)]
Real = Annotated[float, BeforeValidator(_no_switch)]
Rate = Annotated[Real, Field(gt=0, le=1, allow_inf_nan=False)]
Count = Annotated[Whole, Field(ge=1)]
Bins = Annotated[Literal["auto"] | int, BeforeValidator(_bins)]
LabelRate = Annotated[Real, Field(gt=0, le=0.5, allow_inf_nan=False)]
TrainRatio = Annotated[Real, Field(gt=0, lt=1, allow_inf_nan=False)]
NonNegative = Annotated[Real, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[Real, Field(ge=0, lt=1, allow_inf_nan=False)]
Steps = Annotated[Whole, Field(ge=0)]
MethodName = Annotated[str, AfterValidator(_method)]
Bound = Annotated[Real, Field(allow_inf_nan=False)]
# A name becomes a folder and an argument of DVC's commands.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Distinct = AfterValidator(_distinct)
Budgets = Annotated[list[Budget], Field(min_length=1), Distinct]
MethodNames = Annotated[list[MethodName], Field(min_length=1), Distinct]
ClassificationBackbones = Annotated[list[Literal["gcn", "sage"]], Field(min_length=1), Distinct]
LabelRates = Annotated[list[LabelRate], Field(min_length=1), Distinct]
STATED = "searches of the file"
EmbeddingMode = Literal[
    "deepwalk", "walk", "walk-random-tree", "walk-paper-tree", "release-once", "randomized-response"
]
EmbeddingModes = Annotated[list[EmbeddingMode], Field(min_length=1), Distinct]
Shares = Annotated[list[Share], Field(min_length=1), Distinct]
BinCounts = Annotated[list[Bins], Field(min_length=1), Distinct, AfterValidator(_auto_alone)]
Counts = Annotated[list[Count], Field(min_length=1), Distinct]


class Section(BaseModel):
    """A part of params.yaml; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Search(Section):
    """Hyper-parameters to choose from by validation, how much of their grid is tried, and when training stops.

    ``preset`` names a whole grid instead of the single axes. ``dgl`` trains point after point through DGL's layers;
    ``batched`` trains all points of a repeat together. ``smooth_loss`` lets the training loss, too, read the smoothed
    predictions. ``points`` and ``minutes`` bound one search; with ``minutes`` the result depends on the machine.
    """

    engine: Literal["batched", "dgl"] = "batched"
    preset: Literal["paper", "lpgnn"] | None = None
    learning_rate: Annotated[list[Rate], Field(min_length=1), Distinct] = [0.01]
    dropout: Annotated[list[Share], Field(min_length=1), Distinct] = [0.5]
    weight_decay: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [0.001]
    l_x: Annotated[list[Steps], Field(min_length=1), Distinct] = [0, 4, 8, 16]
    l_y: Annotated[list[Steps], Field(min_length=1), Distinct] = [0, 2]
    lambda1: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [1e-4]
    lambda2: Annotated[list[NonNegative], Field(min_length=1), Distinct] = [1e-4]
    step_size: Annotated[Real, Field(gt=0, allow_inf_nan=False)] = 30.0
    inner_steps: Count = 1
    smooth_loss: bool = False
    strategy: Literal["full", "random", "halving"] = "full"
    points: Count | None = None
    minutes: Annotated[Real, Field(gt=0, allow_inf_nan=False)] | None = None
    factor: Annotated[Whole, Field(ge=2)] = 3
    rungs: Count = 4
    epochs: Annotated[Whole, Field(ge=1, le=500)] = 500
    patience: Count = 100
    memory_mb: Count = 4000

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
    eps_a: Budgets
    mode: EdgeMode = "directed"
    methods: MethodNames = ["base"]
    backbones: ClassificationBackbones = ["gcn", "sage"]
    label_rates: LabelRates = [0.5]


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
    its own label, every method with one hyper-parameter point for all repeats.
    """

    datasets: Annotated[list[str], Field(min_length=1), Distinct]
    parts: list[ClassificationPart] = []
    shared_choice: bool = False
    normalization: Literal["symmetric", "mean"] = "symmetric"
    smoothing: Literal["gcn", "paper"] = "gcn"
    search: Search = Search()
    searches: dict[MethodName, Search] = {}
    budget: Budget = "inf"
    memory_limit_mb: Annotated[Whole, Field(ge=1)] = 2000

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
        methods |= (info.context or {}).get(STATED, set())
        if unused := sorted(set(self.searches) - methods):
            raise ValueError(f"searches names {', '.join(unused)}, which no grid has; add the method or remove it")
        return self


class EmbeddingGrid(Section):
    """What the lines of the embedding table are the product of; a mode reads those that it has.

    ``pad``: lists that are released once have the published noisy degree as their length, not their own.
    """

    modes: EmbeddingModes = ["deepwalk", "walk"]
    eps_encoder: Budgets = ["2"]
    p: Shares = [0.2]
    bins: BinCounts = ["auto"]
    walks: Counts = [80]
    pad: bool = False


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
    repeats: Count | None = None
    parts: list[EmbeddingPart] = []
    budget: Budget = "inf"
    eps_degree: Budget = "1"
    eps_counts: Budget = "1"
    length: Annotated[Whole, Field(ge=3, le=65535)] = 40
    linkage: Literal["balanced", "average", "complete"] = "balanced"
    dimensions: Count = 128
    window: Count = 10
    train_ratios: Annotated[list[TrainRatio], Field(min_length=1), Distinct] = [0.1, 0.5, 0.9]
    splits: Count = 10
    threads: Count = 1
    memory_limit_mb: Count = 2000

    def grids(self, dataset: str, repeats: int) -> list[tuple[EmbeddingGrid, int]]:
        """The grid of the study and that of each part for a data set, with their repeats, at most ``repeats``."""
        own = {name: getattr(self, name) for name in EmbeddingGrid.model_fields}
        found = [(EmbeddingGrid(**own), min(self.repeats or repeats, repeats))]
        for part in self.parts:
            if part.datasets is None or dataset in part.datasets:
                named = part.model_dump(exclude_none=True, include=set(own))
                found.append((EmbeddingGrid(**own | named), min(part.repeats or self.repeats or repeats, repeats)))
        return found


class Solver(Section):
    """The Gromov-Wasserstein solver: what it does (``starts``) and how it is run."""

    starts: Count = 2
    threads: Count | None = 1
    block: Count = 65536


class EmbeddedGraphs(Section):
    """What studies of reported graph embeddings share: federated training, encoders and budgets, the solver."""

    encoders: Annotated[list[Literal["per_row", "row", "paper", "gaussian_scale"]], Field(min_length=1), Distinct] = [
        "per_row"
    ]
    eps: Annotated[list[GraphBudget], Field(min_length=1), Distinct] = ["1/n", "inf"]
    rounds: Count = 200
    clients: Count = 10
    solver: Solver = Solver()
    metric: Literal["euclidean", "cosine", "correlation"] = "euclidean"
    rectify: bool = False


class GraphClassification(EmbeddedGraphs):
    """The study of graph kernels over protected embeddings: kernel machines beside baselines."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["mutag"]
    backbones: Annotated[list[Literal["gcn", "gin"]], Field(min_length=1), Distinct] = ["gcn", "gin"]
    baselines: Annotated[list[Literal["gnn", "spk", "svm-gw", "svm-fgw", "node-count"]], Distinct] = [
        "gnn",
        "spk",
        "svm-gw",
        "svm-fgw",
        "node-count",
    ]
    gamma_unit: Literal["median", "raw"] = "median"
    budget: Budget = "inf"
    cure: Literal["none", "clip", "flip", "shift"] = "none"


class EgoClustering(EmbeddedGraphs):
    """The study of ego graphs cut out of one graph: how many of each reach, around the same centres."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["citeseer"]
    graphs: Count = 500
    hops: Annotated[list[Count], Field(min_length=1), Distinct] = [1, 2]


class Profile(Section):
    """Everything that one ``dvc repro`` runs."""

    seed: Annotated[Whole, Field(ge=0, lt=2**63)] | None = 0
    repeats: Annotated[Whole, Field(ge=1, le=1000)] = 5
    runner: Literal["threads", "processes", "dask"] = "processes"
    workers: Annotated[Whole, Field(ge=1, le=256)] | None = None
    dask_address: str | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    node_classification: NodeClassification
    node_embedding: NodeEmbedding = NodeEmbedding()
    graph_classification: GraphClassification = GraphClassification()
    ego_clustering: EgoClustering = EgoClustering()


class OwnDataset(Section):
    """A user's own graph; private unless said otherwise. Paths are relative to the project's root."""

    edges: str
    features: str | None = None
    labels: str | None = None
    nodes: Annotated[Whole, Field(ge=1)] | None = None
    feature_bounds: Annotated[tuple[Bound, Bound], AfterValidator(_ordered)] | None = None
    private: bool = True


class Parameters(Section):
    """The whole file."""

    demo: Profile
    paper: Profile
    datasets: dict[Name, OwnDataset] = {}


def load_parameters(path: Path, profile: str = "demo", overrides: Sequence[str] = ()) -> Parameters:
    """Read and validate ``path``; ``overrides`` are ``dotted.key=json``, relative to the profile.

    Raises:
        UserError: for an unreadable file, an unknown profile or key, or a value out of range.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path.name} is missing; run from the project's root or restore it with git") from None
    except OSError as error:
        raise UserError(f"{path.name} cannot be read ({error.strerror}); make it a readable file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not valid YAML: {error}") from None
    if not isinstance(tree, dict):
        raise UserError(f"{path.name} must hold the sections {', '.join(PROFILES)}")
    _refuse_expansion(path, tree)
    if profile not in PROFILES or profile not in tree:
        raise UserError(f"profile {profile!r} is unknown; use one of {', '.join(PROFILES)}")
    tree[profile] = copy.deepcopy(tree[profile])  # sections may share an anchor
    stated = _searches_of_the_file(tree, profile, overrides)
    for override in overrides:
        _apply(tree, profile, override)
    try:
        return Parameters.model_validate(tree, context={STATED: stated})
    except ValidationError as error:
        raise UserError(f"{path.name}: {problem(error)}") from None


def _searches_of_the_file(tree: dict[str, Any], profile: str, overrides: Sequence[str]) -> set[str]:
    """Methods whose searches a command line may leave without a use: those that the file names, and uses itself."""
    if not overrides:
        return set()
    try:
        named = set(getattr(Parameters.model_validate(tree), profile).node_classification.searches)
    except ValidationError:
        return set()
    keys = [override.partition("=")[0].strip().split(".") for override in overrides]
    given = [key[2] if len(key) > 2 else "" for key in keys if key[:2] == ["node_classification", "searches"]]
    return set() if "" in given or ["node_classification"] in keys else named - set(given)


def _refuse_expansion(path: Path, tree: object) -> None:
    """A few lines of aliases may stand for billions of values, which everything below would visit one by one."""
    pending, visited = [tree], 0
    while pending:
        value = pending.pop()
        visited += 1
        if visited > MOST_VALUES:
            raise UserError(f"{path.name} expands to more than {MOST_VALUES} values; write its aliases out")
        if isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, (list, tuple, set)):
            pending += value


def _apply(section: Any, profile: str, override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise UserError(f"--set {shortened(override)} has no '='; write --set dotted.key=json")
    shown = shortened(key, plain=True)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError(f"--set {shown}: {shortened(text)} is not JSON; quote strings, for example '\"inf\"'") from None
    names = key.strip().split(".")
    if names[0] in Parameters.model_fields:
        raise UserError(f"--set {shown}: keys are those below the profile; the rest is changed in params.yaml alone")
    *parents, leaf = [profile, *names]
    for depth, name in enumerate(parents):
        section = section.setdefault(name, {})
        if not isinstance(section, dict):
            above = shortened(".".join(parents[: depth + 1]), plain=True)
            raise UserError(f"--set {shown}: {above} is not a section of params.yaml")
    section[leaf] = value
