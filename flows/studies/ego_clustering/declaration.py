"""The GW-LDP study's clustering of ego graphs, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flows.context.declaration import StudyDeclaration, StudyOutputs
from flows.studies.ego_clustering.grid import expected
from flows.studies.graph_classification.declaration import CONTROLS
from flows.studies.graph_classification.grid import costs
from tasks.parameters.graphs import EgoClustering

if TYPE_CHECKING:
    from prefect import Flow


def _flow() -> Flow[..., Any]:
    from flows.studies.ego_clustering.flow import ego_clustering

    return ego_clustering


def _outputs() -> StudyOutputs:
    from flows.studies.ego_clustering.outputs import OUTPUTS

    return OUTPUTS


EGO_CLUSTERING = StudyDeclaration(
    name="ego_clustering",
    flow=_flow,
    grid=EgoClustering,
    axes={"eps": "eps"},
    mechanisms=("tasks.client.embedding_encoder",),
    costs=costs,
    expected=expected,
    outputs=_outputs,
    figures="egos",
    captions={
        "ego_ari_by_epsilon": "Ego graphs: adjusted Rand index of the clusters; dashes are node counts alone",
        "ego_nmi_by_epsilon": "Ego graphs: normalised mutual information of the clusters; dashes are node counts alone",
        "ego_accuracy_by_epsilon": "Ego graphs: accuracy under the best matching; dashes are node counts alone",
        "ego_gw_by_epsilon": "GW-LDP's figure 5: mean Gromov-Wasserstein discrepancy of two ego graphs",
        "ego_five_graphs": "GW-LDP's figure 4: discrepancies of five ego graphs, the published ones first",
        "ego_maps": (
            "GW-LDP's figure 2: t-SNE of the discrepancies of ego graphs, by cluster above, by the centre's class below"
        ),
    },
    headlines=("accuracy", "ari", "nmi"),
    controls=CONTROLS,
    point=("input", "encoder=", "eps="),
    extra_files=("maps.csv",),
)
