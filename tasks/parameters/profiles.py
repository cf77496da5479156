"""params.yaml as a typed model: a section per profile, and ``datasets``, where users declare graphs of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, create_model

from tasks.parameters.classification import NodeClassification
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.graphs import EgoClustering, GraphClassification
from tasks.parameters.values import Bound, Budget, Name, Section, Whole
from tasks.reports.ledgers.units import UNITS

PROFILES = ("demo", "paper")
Runner = Literal["threads", "processes", "dask"]
Device = Literal["auto", "cpu", "cuda"]


def _unit(name: str) -> str:
    if name not in UNITS:
        raise ValueError(f"{name!r} is no unit of protection; use one of {', '.join(UNITS)}")
    return name


Unit = Annotated[str, AfterValidator(_unit)]


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError("the lower bound must come first and be smaller")
    return bounds


class Profile(Section):
    """Everything that one ``dvc repro`` runs."""

    seed: Annotated[Whole, Field(ge=0, lt=2**63)] | None = 0
    """Decides all noise and training; ``null`` draws the users' noise from the operating system's entropy."""
    repeats: Annotated[Whole, Field(ge=1, le=1000)] = 5
    """Number of repeats, each with its own split, noise and initial weights."""
    runner: Runner = "processes"
    """Where steps run; ``dask`` is a local cluster, or the scheduler of ``dask_address``."""
    workers: Annotated[Whole, Field(ge=1, le=256)] | None = None
    """Steps at a time; empty for one for each core."""
    dask_address: str | None = None
    """Address of a Dask scheduler."""
    device: Device = "auto"
    """Where networks are trained."""
    node_classification: NodeClassification
    """See below."""
    node_embedding: NodeEmbedding = NodeEmbedding()
    """See below."""
    graph_classification: GraphClassification = GraphClassification()
    """See below."""
    ego_clustering: EgoClustering = EgoClustering()
    """See below."""


Model = TypeVar("Model", bound=Section)


def section_of(profile: Profile, model: type[Model]) -> Model:
    """The section of a study, by its model."""
    found = next(value for _, value in profile if type(value) is model)
    assert isinstance(found, model)
    return found


class OwnDataset(Section):
    """A user's own graph; private unless said otherwise. Paths are relative to the project's root."""

    edges: str
    """File of two columns of node ids."""
    features: str | None = None
    """File with a row for each node."""
    labels: str | None = None
    """File of node and class."""
    nodes: Annotated[Whole, Field(ge=1)] | None = None
    """How many there are, where the features do not say."""
    feature_bounds: Annotated[tuple[Bound, Bound], AfterValidator(_ordered)] | None = None
    """Lower and upper bound of every feature, from public knowledge."""
    private: bool = True
    """Whether digests and counts of it stay with the client."""
    budget: Budget | dict[Unit, Budget] | None = None
    """What may ever be spent on a private graph, over all runs: for each unit of protection by itself, or by unit."""
    account: str | None = None
    """Folder of the account of what was spent; by default beside the file of edges."""
    fresh_noise: bool = False
    """Draw the reports of a private graph anew for every repeat, each of which is charged."""
    scores: bool = True
    """Whether a private graph is scored; scores are exact functions of its test labels."""


class Parameters(Section):
    """The whole file."""

    demo: Profile
    paper: Profile
    datasets: dict[Name, OwnDataset] = {}


def parameters_with(sections: Mapping[str, type[Section]]) -> type[Parameters]:
    """The model of the file, with the sections of further studies; what they leave out has its default."""
    further: dict[str, Any] = {
        name: (model, Field(default_factory=model))
        for name, model in sections.items()
        if name not in Profile.model_fields
    }
    if not further:
        return Parameters
    profile = create_model("Profile", __base__=Profile, **further)
    return create_model("Parameters", __base__=Parameters, demo=(profile, ...), paper=(profile, ...))
