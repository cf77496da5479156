"""The methods of the node classification study: what each needs and which calibrations it combines.

A new denoiser of the graph is one file in ``tasks.curator.calibration``, a line in its ``graphs`` and a name in
``Graph``; a new method is one line in ``METHODS``. Any registered method can be extended by name: ``mutual + drop``,
``base + bayes-soft + smoothing``. The table is read before anything starts, so it imports no calibration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from tasks.errors import UserError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tasks.reports.edge import EdgeReport

Graph = Literal["reported", "mutual", "bayes-hard", "bayes-soft"]
Needs = Literal["edges", "features", "labels"]
FeatureSource = Literal["reported", "random", "constant", "none"]

_CALIBRATION = "tasks.curator.calibration"


@dataclass(frozen=True)
class Method:
    """One row of the table.

    Attributes:
        name: canonical name.
        graph: what the network, and all smoothing, runs on; see ``tasks.curator.calibration.graphs``.
        features: where they come from. ``random`` and ``constant`` are public and of the reports' declared width;
            ``none`` belongs to backbone-free methods.
        feature_smoothing: l_x is a hyper-parameter (else 0).
        prediction_smoothing: l_y steps on the predicted probabilities (else 0).
        target_smoothing: Drop, l_y steps on the one-hot training labels (else the labels as reported).
        joint: the edge weights are learned with the network (eq. 14), from ``graph``'s values on.
        backbone_free: label propagation instead of a network.
        noise_free: reads its reports at budget ``inf``: ``base`` without noise, the ceiling, not a private method.
    """

    name: str
    graph: Graph = "reported"
    features: FeatureSource = "reported"
    feature_smoothing: bool = False
    prediction_smoothing: bool = False
    target_smoothing: bool = False
    joint: bool = False
    backbone_free: bool = False
    noise_free: bool = False

    @property
    def needs(self) -> tuple[Needs, ...]:
        """The reports that are read; the budget of the others is not spent."""
        return ("edges", "features", "labels") if self.features == "reported" else ("edges", "labels")

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules whose code decides the result, beside the training's; for the version of a stored point."""
        from tasks.curator.calibration.graphs import GRAPHS

        names = {GRAPHS[self.graph].__module__} if self.graph != "reported" else set()
        if self.feature_smoothing or self.prediction_smoothing or self.target_smoothing or self.backbone_free:
            names.add(f"{_CALIBRATION}.smoothing")
        if self.features in ("random", "constant"):
            names.add(f"{_CALIBRATION}.feature_free")
        if self.joint:
            names.add(f"{_CALIBRATION}.joint")
        if self.backbone_free:
            names.add(f"{_CALIBRATION}.label_propagation")
        return tuple(sorted(names))

    def calibrated_graph(self, report: EdgeReport) -> csr_array:
        """The graph in use (N, N), of bits or of weights in [0, 1].

        Raises:
            UserError: when the report's mode does not carry what the calibration needs.
        """
        from tasks.curator.calibration.graphs import GRAPHS

        return GRAPHS[self.graph](report)


_SMOOTHED: dict[str, Any] = {"feature_smoothing": True, "prediction_smoothing": True}

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("base"),
        Method("lpgnn", **_SMOOTHED, target_smoothing=True),
        Method("solitude", **_SMOOTHED, joint=True),
        Method("mutual", graph="mutual", **_SMOOTHED),
        Method("bayes-hard", graph="bayes-hard", **_SMOOTHED),
        Method("bayes-soft", graph="bayes-soft", **_SMOOTHED),
        Method("random-features", features="random", **_SMOOTHED),
        Method("constant-features", features="constant"),
        Method("label-propagation", features="none", backbone_free=True),
        Method("non-private", noise_free=True),
    )
}

# What a name can be extended by; each part sets these fields.
PARTS: dict[str, dict[str, Any]] = {
    **{name: {"graph": name} for name in get_args(Graph)},
    "smoothing": {"feature_smoothing": True},
    "label-smoothing": {"prediction_smoothing": True},
    "drop": {"prediction_smoothing": True, "target_smoothing": True},
    "joint": {"joint": True},
    "random-features": {"features": "random"},
    "constant-features": {"features": "constant"},
}


def method_named(text: str) -> Method:
    """A registered method, or one extended by parts: ``"mutual + smoothing + drop"``.

    The first word names a registered method, each further one a part; one fact may be stated once only. The result's
    name is the words in this spelling.

    Raises:
        UserError: for an unknown method or part, parts that contradict each other, or parts that a backbone-free method
            has no use for.
    """
    first, *parts = (word.strip().lower() for word in text.split("+"))
    if first not in METHODS:
        raise UserError(f"method {first!r} is unknown; use one of {', '.join(METHODS)}")
    method = METHODS[first]
    graphs = [part for part in parts if part in get_args(Graph)]
    sources = [part for part in parts if part.endswith("-features")]
    for part in parts:
        if part not in PARTS:
            raise UserError(f"method {text!r}: part {part!r} is unknown; use one of {', '.join(PARTS)}")
        if method.backbone_free and part not in get_args(Graph):
            raise UserError(f"method {text!r}: {first} trains no network, so {part} has no meaning")
    if len(set(parts)) < len(parts) or len(graphs) > 1 or len(sources) > 1:
        raise UserError(f"method {text!r} names a part, a graph or a feature source twice; name each once")
    for part in parts:
        method = replace(method, **PARTS[part])
    return replace(method, name=" + ".join([first, *parts]))
