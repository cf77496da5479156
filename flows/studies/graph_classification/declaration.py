"""The GW-LDP study's classification of graphs, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flows.context.declaration import StudyDeclaration, StudyOutputs
from flows.studies.graph_classification.grid import costs, expected
from tasks.parameters.graphs import GraphClassification

if TYPE_CHECKING:
    from prefect import Flow


def _flow() -> Flow[..., Any]:
    from flows.studies.graph_classification.flow import graph_classification

    return graph_classification


def _outputs() -> StudyOutputs:
    from flows.studies.graph_classification.outputs import OUTPUTS

    return OUTPUTS


CONTROLS = {
    "method": {"node-count": "reads the number of nodes alone"},
    "input": {"raw": "raw graphs, no privacy"},
    "encoder": {"none": "embeddings without noise"},
}
GRAPH_CLASSIFICATION = StudyDeclaration(
    name="graph_classification",
    flow=_flow,
    grid=GraphClassification,
    axes={"methods": "baselines", "backbones": "backbones", "eps": "eps"},
    mechanisms=("tasks.client.embedding_encoder",),
    costs=costs,
    expected=expected,
    outputs=_outputs,
    figures="graphs",
    captions={
        "accuracy_by_epsilon": "Graph classification: accuracy against the budget; crosses were published",
        "knn_5_by_epsilon": "GW-LDP's figure 3: accuracy of 5 nearest neighbours",
        "knn_20_by_epsilon": "GW-LDP's figure 3: accuracy of 20 nearest neighbours",
        "gw_by_epsilon": "Graph classification: mean Gromov-Wasserstein discrepancy of two graphs",
    },
    tables={
        "table-1": "GW-LDP's table 1 and its controls: mean and deviation over splits in percent, difference in points"
    },
    headlines=("accuracy", "macro_f1"),
    controls=CONTROLS,
    point=("input", "encoder=", "eps="),
    in_demo=True,
)
