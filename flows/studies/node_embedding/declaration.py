"""The FedWalk study, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flows.context.declaration import StudyDeclaration, StudyOutputs
from flows.studies.node_embedding.grid import costs, expected
from tasks.parameters.embedding import NodeEmbedding

if TYPE_CHECKING:
    from prefect import Flow


def _flow() -> Flow[..., Any]:
    from flows.studies.node_embedding.flow import node_embedding

    return node_embedding


def _outputs() -> StudyOutputs:
    from flows.studies.node_embedding.outputs import OUTPUTS

    return OUTPUTS


NODE_EMBEDDING = StudyDeclaration(
    name="node_embedding",
    flow=_flow,
    grid=NodeEmbedding,
    axes={"methods": "modes", "eps": "eps_encoder"},
    mechanisms=(
        "tasks.client.fedwalk.walks",
        "tasks.client.fedwalk.encoded_lists",
        "tasks.client.randomized_response",
    ),
    costs=costs,
    expected=expected,
    outputs=_outputs,
    figures="embedding",
    captions={
        "micro_f1_by_bins": "FedWalk's figure 6: micro-F1 against the number of bins",
        "micro_f1_by_epsilon": "FedWalk's figure 7: micro-F1 against the encoder's budget, and the edges given away",
        "micro_f1_by_prediction": "FedWalk's figure 8: micro-F1 against two-hop prediction, and the messages it saves",
    },
    tables={
        "deepwalk-published": "DeepWalk on the true graph beside its published table, percent, protocol top_k",
        "largest-epsilon": "The largest budget that gives away under a tenth of the edges beyond degrees, and F1 there",
        "published-changes": "Changes of micro-F1 that FedWalk's figures print, and ours between the same points",
    },
    headlines=("micro_f1", "macro_f1", "edge_recall", "messages_per_walk"),
    controls={
        "method": {"deepwalk": "raw graph, no privacy"},
        "mode": {
            "walk-random-tree": "random tree: tokens without structure",
            "randomized-response": "no walks: randomised response on the lists",
        },
    },
    point=("walks=", "train_ratio=", "scoring"),
    in_demo=True,
)
