"""What a sweep is asked for, a study and a part of its grid: the model of Prefect's form and of the options.

An axis is declared by its studies (``axes`` of a ``StudyDeclaration``); one that no study had before is also a field of
``SweepRequest``, with the words of the form.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, field_validator

from flows.context.request import StudyRequest
from flows.studies.registry import STUDIES, declared
from flows.studies.requests import read_request
from tasks.errors import UserError
from tasks.parameters.profiles import Device, Runner

NAMES = tuple(study.name for study in STUDIES)
AXES = tuple(dict.fromkeys(axis for study in STUDIES for axis in study.axes))
SETTINGS = ("repeats", "runner", "dask_address", "workers", "device")


def _study_first(schema: dict[str, Any]) -> None:
    """The form asks in the order of the schema: the study, its grid, and what few need last."""
    fields = schema["properties"]
    last = {name: fields.pop(name) for name in ("overrides", "export", "draw_again")}
    schema["properties"] = {"study": fields.pop("study") | {"enum": list(NAMES)}, **fields, **last}


class SweepRequest(StudyRequest):
    """A study and a part of its grid; what is left empty is as in params.yaml.

    Budgets are texts, such as ``7`` or ``inf``.
    """

    model_config = ConfigDict(json_schema_extra=_study_first)

    profile: Literal["demo", "paper"] = Field(default="demo", description="section of params.yaml")
    study: str = Field(default=NAMES[0], description="study to run")
    methods: list[str] = Field(
        default=[], description="methods; of graph_classification its baselines, of node_embedding its modes"
    )
    backbones: list[str] = Field(
        default=[], description="gcn, sage or gin; of node_classification and graph_classification"
    )
    eps_x: list[str] = Field(default=[], description="node_classification: budgets of a user's features, inf: no noise")
    eps_a: list[str] = Field(default=[], description="node_classification: budgets of a user's neighbour list")
    eps: list[str] = Field(
        default=[],
        description="budgets of graph_classification's and ego_clustering's embeddings or of node_embedding's encoder",
    )
    repeats: int | None = Field(default=None, description="independent repeats of every point")
    runner: Runner | None = Field(default=None, description="where steps run")
    dask_address: str | None = Field(default=None, description="of runner dask: its scheduler, else a local cluster")
    workers: int | None = Field(default=None, description="steps at a time")
    device: Device | None = Field(default=None, description="where networks are trained")

    @field_validator("study")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in NAMES:
            raise ValueError(f"use one of {', '.join(NAMES)}")
        return name

    @property
    def experiment(self) -> str:
        """What is asked, in one short line."""
        axes = {name: values for name in declared(self.study).axes if (values := getattr(self, name))}
        shown = [f"{name}={','.join(values)}" for name, values in axes.items()]
        repeats = [] if self.repeats is None else [f"repeats={self.repeats}"]
        return " ".join([declared(self.study).title, self.profile, *self.datasets, *shown, *repeats])

    def study_request(self) -> StudyRequest:
        """The request of the study itself.

        ``overrides`` come last.

        Raises:
            UserError: for an axis that the study does not have, and for mistakes in params.yaml.
        """
        changes = [_override(name, getattr(self, name)) for name in SETTINGS if getattr(self, name) is not None]
        axes = declared(self.study).axes
        for name in AXES:
            values = getattr(self, name)
            if values and name not in axes:
                raise UserError(f"{self.study} has no {name}; choose from {', '.join(axes)}")
            if values:
                changes.append(_override(f"{self.study}.{axes[name]}", values))
        return StudyRequest(
            profile=self.profile,
            datasets=self.datasets,
            overrides=[*changes, *self.overrides],
            export=self.export,
            draw_again=self.draw_again,
        )


def add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Study, axes and where to run."""
    parser.add_argument("--study", default=NAMES[0], choices=NAMES, help=f"study to run (default: {NAMES[0]})")
    add_grid_options(parser)


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """The axes, and where to run: the fields of ``SweepRequest``."""
    for name in (*AXES, *SETTINGS):
        option, field = f"--{name.replace('_', '-')}", SweepRequest.model_fields[name]
        if name in AXES:
            parser.add_argument(option, nargs="+", default=[], metavar="V", help=field.description)
        elif choices := [choice for kind in get_args(field.annotation) for choice in get_args(kind)]:
            parser.add_argument(option, choices=choices, help=field.description)
        elif int in get_args(field.annotation):
            parser.add_argument(option, type=int, help=field.description)
        else:
            parser.add_argument(option, metavar="URL", help=field.description)


def requested(study: str, chosen: argparse.Namespace, shared: dict[str, Any]) -> StudyRequest:
    """What the command line asks of a study: its grid options (``chosen``), and what all commands share.

    Raises:
        UserError: see ``SweepRequest.study_request``.
    """
    read_request(StudyRequest(**shared))  # a mistake in what is shared is one line
    own = {name: getattr(chosen, name) for name in (*AXES, *SETTINGS)}
    return SweepRequest.model_validate({"study": study, **shared, **own}).study_request()


def _override(key: str, value: Any) -> str:
    return f"{key}={json.dumps(value)}"
