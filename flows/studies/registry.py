"""Every study, in the order of the report, and the stages before them."""

from __future__ import annotations

from flows.context.declaration import StudyDeclaration
from flows.studies.data_stages import download_stage, perturb_stage
from flows.studies.ego_clustering.declaration import EGO_CLUSTERING
from flows.studies.graph_classification.declaration import GRAPH_CLASSIFICATION
from flows.studies.node_classification.declaration import NODE_CLASSIFICATION
from flows.studies.node_embedding.declaration import NODE_EMBEDDING
from tasks.errors import UserError

STUDIES: tuple[StudyDeclaration, ...] = (
    NODE_CLASSIFICATION,
    GRAPH_CLASSIFICATION,
    EGO_CLUSTERING,
    NODE_EMBEDDING,
)
STAGES = (download_stage(STUDIES), perturb_stage(NODE_CLASSIFICATION))


def declared(name: str) -> StudyDeclaration:
    """The study or stage of this name.

    Raises:
        UserError: when there is none.
    """
    for declaration in (*STAGES, *STUDIES):
        if declaration.name == name:
            return declaration
    raise UserError(f"no study {name!r}; choose from {', '.join(study.name for study in STUDIES)}")
