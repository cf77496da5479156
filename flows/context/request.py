"""What is asked of a study: light modules alone are imported here."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

SHORT = 60


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
