"""What is asked of a study: light modules alone are imported here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from flows.context.declaration import StudyDeclaration
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.parameters.profiles import Profile

SHORT = 60


class StudyRequest(BaseModel):
    """What a user asks of a study; the grid itself is params.yaml's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: str = Field(default="demo", description="section of params.yaml: demo or paper")
    datasets: list[str] = Field(default=[], description="data sets to run instead of the profile's")
    overrides: list[str] = Field(default=[], description="dotted.key=json, relative to the profile")
    export: bool = Field(default=False, description="lay points and tables below data/, for DVC")
    draw_again: bool = Field(
        default=False, description="draw lost or damaged reports of private data again, which charges them again"
    )

    def title(self, name: str) -> str:
        """What is asked of a study, in one short line."""
        parts = [override.partition("=") for override in self.overrides]
        changes = [f"{key.rpartition('.')[2]}={value}".replace('"', "") for key, _, value in parts if value != "[]"]
        shown = [change for change in changes if len(change) <= SHORT]
        return " ".join([name.replace("_", " "), self.profile, *self.datasets, *shown])


@dataclass(frozen=True)
class ResolvedRequest:
    """A request and what it comes to: the study or stage, its parameters, its data sets, and those of one's own."""

    declaration: StudyDeclaration
    request: StudyRequest
    profile: Profile
    datasets: list[str]
    own: dict[str, UserDataset]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """For the time of a flow, whose parameter in Prefect is the request alone."""
        token = _ENTERED.set(self)
        try:
            yield
        finally:
            _ENTERED.reset(token)


_ENTERED: ContextVar[ResolvedRequest] = ContextVar("resolved request")


def entered_request(name: str) -> ResolvedRequest:
    """What the flow of this name was started for.

    Raises:
        UserError: when it was called on its own.
    """
    found = _ENTERED.get(None)
    if found is None or found.declaration.name != name:
        raise UserError(f"the flow of {name} is started by python -m flows.{name} or flows.sweep; use one of them")
    return found
