"""The stages before the studies: upstream files below data/raw, and node classification's reports below data/noisy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flows.context.declaration import StudyDeclaration

if TYPE_CHECKING:
    from prefect import Flow


def download_stage(studies: Sequence[StudyDeclaration]) -> StudyDeclaration:
    """Brings every data set of a profile in, whichever study it is for."""
    return StudyDeclaration("download", _download, stage_of=tuple(study.name for study in studies))


def perturb_stage(study: StudyDeclaration) -> StudyDeclaration:
    """Draws a study's reports, which the study finds in the store."""
    return replace(study, name="perturb", flow=_perturb, stage_of=(study.name,))


def _download() -> Flow[..., Any]:
    from flows.studies.stage_flows import download

    return download


def _perturb() -> Flow[..., Any]:
    from flows.studies.stage_flows import perturb

    return perturb
