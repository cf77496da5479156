"""What a sweep is asked for: a study and a part of its grid; the Prefect UI makes a form of it."""

from __future__ import annotations

import argparse
import json
from typing import Any, Literal

from pydantic import ConfigDict, Field

from flows.context.request import StudyRequest, read_request
from flows.context.sweep_options import LISTS
from tasks.errors import UserError

AXES: dict[str, dict[str, str]] = {
    "node_classification": {"methods": "methods", "backbones": "backbones", "eps_x": "eps_x", "eps_a": "eps_a"},
    "graph_classification": {"methods": "baselines", "backbones": "backbones", "eps": "eps"},
    "node_embedding": {"methods": "modes", "eps": "eps_encoder"},
    "ego_clustering": {"eps": "eps"},
}
"""What the form's axes are called in a study's section of params.yaml."""
SETTINGS = ("repeats", "runner", "dask_address", "workers", "device")


def _study_first(schema: dict[str, Any]) -> None:
    """The form asks in the order of the schema: the study, its grid, and what few need last."""
    fields = schema["properties"]
    last = {name: fields.pop(name) for name in ("overrides", "export")}
    schema["properties"] = {"study": fields.pop("study"), **fields, **last}


class SweepRequest(StudyRequest):
    """A study and a part of its grid; what is left empty is as in params.yaml.

    Budgets are texts, such as ``7`` or ``inf``.
    """

    model_config = ConfigDict(json_schema_extra=_study_first)

    profile: Literal["demo", "paper"] = Field(default="demo", description="section of params.yaml")
    study: Literal["node_classification", "graph_classification", "node_embedding", "ego_clustering"] = Field(
        default="node_classification", description="study to run"
    )
    methods: list[str] = Field(default=[], description=LISTS["methods"])
    backbones: list[str] = Field(default=[], description=LISTS["backbones"])
    eps_x: list[str] = Field(default=[], description=LISTS["eps_x"])
    eps_a: list[str] = Field(default=[], description=LISTS["eps_a"])
    eps: list[str] = Field(default=[], description=LISTS["eps"])
    repeats: int | None = Field(default=None, description="independent repeats of every point")
    runner: Literal["threads", "processes", "dask"] | None = Field(default=None, description="where steps run")
    dask_address: str | None = Field(default=None, description="of runner dask: its scheduler, else a local cluster")
    workers: int | None = Field(default=None, description="steps at a time")
    device: Literal["auto", "cpu", "cuda"] | None = Field(default=None, description="where networks are trained")

    @property
    def experiment(self) -> str:
        """What is asked, in one short line."""
        axes = {name: values for name in AXES[self.study] if (values := getattr(self, name))}
        shown = [f"{name}={','.join(values)}" for name, values in axes.items()]
        repeats = [] if self.repeats is None else [f"repeats={self.repeats}"]
        return " ".join([self.study.replace("_", " "), self.profile, *self.datasets, *shown, *repeats])

    def study_request(self) -> StudyRequest:
        """The request of the study itself.

        ``overrides`` come last.

        Raises:
            UserError: for an axis that the study does not have, and for mistakes in params.yaml.
        """
        changes = [_override(name, getattr(self, name)) for name in SETTINGS if getattr(self, name) is not None]
        axes = AXES[self.study]
        for name in dict.fromkeys(axis for names in AXES.values() for axis in names):
            values = getattr(self, name)
            if values and name not in axes:
                raise UserError(f"{self.study} has no {name}; choose from {', '.join(axes)}")
            if values:
                changes.append(_override(f"{self.study}.{axes[name]}", values))
        return StudyRequest(
            profile=self.profile, datasets=self.datasets, overrides=[*changes, *self.overrides], export=self.export
        )


def requested(study: str, chosen: argparse.Namespace, shared: dict[str, Any]) -> StudyRequest:
    """What the command line asks of a study: its grid options (``chosen``), and what all commands share.

    Raises:
        UserError: see ``SweepRequest.study_request``.
    """
    read_request(StudyRequest(**shared))  # a mistake in what is shared is one line
    own = {name: getattr(chosen, name) for name in (*LISTS, *SETTINGS)}
    return SweepRequest.model_validate({"study": study, **shared, **own}).study_request()


def _override(key: str, value: Any) -> str:
    return f"{key}={json.dumps(value)}"
