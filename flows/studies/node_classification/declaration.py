"""The Solitude study, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flows.context.declaration import StudyDeclaration, StudyOutputs
from flows.studies.node_classification.grid import costs, expected
from tasks.parameters.classification import NodeClassification

if TYPE_CHECKING:
    from prefect import Flow


def _flow() -> Flow[..., Any]:
    from flows.studies.node_classification.flow import node_classification

    return node_classification


def _outputs() -> StudyOutputs:
    from flows.studies.node_classification.outputs import OUTPUTS

    return OUTPUTS


NODE_CLASSIFICATION = StudyDeclaration(
    name="node_classification",
    flow=_flow,
    grid=NodeClassification,
    axes={"methods": "methods", "backbones": "backbones", "eps_x": "eps_x", "eps_a": "eps_a"},
    mechanisms=("tasks.client.randomized_response", "tasks.client.multibit"),
    costs=costs,
    expected=expected,
    outputs=_outputs,
    figures="solitude",
    captions={
        "figure-4": "Solitude's figure 4: accuracy against the edge budget; dashed lines were published",
        "figure-5": "Solitude's figure 5: accuracy against the label rate; dashed lines were published",
    },
    tables={
        "verdicts": "Every published cell, and every method of ours beside it; differences and margins in points",
        "equal-relation-budget": "Accuracy by the budget of a relation: reported once, or by both of its ends",
        "edges-told-apart": "How well the calibrated graph tells true from false reported edges, beside accuracy",
    },
    headlines=("accuracy", "macro_f1", "mean_degree", "noise_edges"),
    controls={
        "method": {
            "non-private": "no noise, no privacy: the ceiling",
            "base": "no calibration: reports as they came",
            "label-propagation": "no features, no network",
        },
        "part of the method": {
            "random-features": "random features instead of reported ones",
            "constant-features": "no features at all",
        },
    },
    point=("backbone", "eps_x=", "eps_a="),
    in_demo=True,
    drawn_before=("eps_x", "eps_a", "mode", "methods", "parts"),
)
