"""What is asked of a study, and the check of it before anything starts: light modules alone are imported here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field

from flows.context.project import workspace
from flows.studies.budgets import check_budgets
from tasks.datasets.catalogue.public import kind_of, require_kind
from tasks.datasets.user.declaration import UserDataset, check_declaration
from tasks.errors import UserError
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import Parameters, Profile

PARAMETERS = "params.yaml"
SHORT = 60
SECTIONS = {
    "download": ("node_classification", "node_embedding", "graph_classification", "ego_clustering"),
    "perturb": ("node_classification",),
}
"""The sections of a profile that a stage is for; a study has its own."""


class StudyRequest(BaseModel):
    """What a user asks of a study; the grid itself is params.yaml's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: str = Field(default="demo", description="section of params.yaml: demo or paper")
    datasets: list[str] = Field(default=[], description="data sets to run instead of the profile's")
    overrides: list[str] = Field(default=[], description="dotted.key=json, relative to the profile")
    export: bool = Field(default=False, description="lay points and tables below data/, for DVC")

    def title(self, name: str) -> str:
        """What is asked of a study, in one short line."""
        parts = [override.partition("=") for override in self.overrides]
        changes = [f"{key.rpartition('.')[2]}={value}".replace('"', "") for key, _, value in parts if value != "[]"]
        shown = [change for change in changes if len(change) <= SHORT]
        return " ".join([name.replace("_", " "), self.profile, *self.datasets, *shown])


def check_request(name: str, request: StudyRequest, told: Callable[[str], object] = lambda _: None) -> Profile:
    """The profile of a request, after checking everything that can be told without reading data.

    ``told`` is called with what a user should know of the grid.

    Raises:
        UserError: for any mistake in the request or in params.yaml.
    """
    parameters = read_request(request, told)
    own = own_datasets(parameters)
    profile: Profile = getattr(parameters, request.profile)
    for dataset in chosen_datasets(name, request, profile):
        require_kind(name, dataset, kind_of(dataset, own))
        if dataset in own:
            if own[dataset].private and request.export:
                raise UserError(f"data set {dataset!r} is private and is never laid below data/; run without --export")
            check_declaration(own[dataset])
    check_budgets(name, profile, chosen_datasets(name, request, profile))
    return profile


def chosen_datasets(name: str, request: StudyRequest, profile: Profile) -> list[str]:
    """The request's data sets, else those of the profile's sections that the study or stage is for; each once."""
    named = [getattr(profile, section).datasets for section in SECTIONS.get(name, (name,))]
    return list(dict.fromkeys(request.datasets or chain(*named)))


def read_request(request: StudyRequest, told: Callable[[str], object] = lambda _: None) -> Parameters:
    """The validated parameters of a request; see ``load_parameters``."""
    return load_parameters(workspace() / PARAMETERS, request.profile, request.overrides, told)


def own_datasets(parameters: Parameters) -> dict[str, UserDataset]:
    """The graphs that the user declared, with their paths below the checkout."""
    return {
        name: UserDataset(
            name=name,
            edges=workspace() / declared.edges,
            features=workspace() / declared.features if declared.features else None,
            labels=workspace() / declared.labels if declared.labels else None,
            nodes=declared.nodes,
            feature_bounds=declared.feature_bounds,
            private=declared.private,
        )
        for name, declared in parameters.datasets.items()
    }
