"""What a search is made of: the reports as received, and what the engine is asked to train on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.curator.calibration.feature_free import constant_features, random_features
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings, GraphSteps
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.methods import Method
from tasks.curator.problems import prepared
from tasks.curator.rectify import AffineSparse, rectified
from tasks.curator.search.axes import Axes, axes_named
from tasks.curator.search.strategy import Strategy
from tasks.models.architecture import Backbone
from tasks.models.networks import Device
from tasks.parameters.classification import NodeClassification, Search
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.steps.report_point import REPORT
from tasks.store import PointRef

WIDTH = 64
"""Dimensions of the features that nobody reports, where the users have none whose number they would have."""


@dataclass(frozen=True)
class Received:
    """The reports that a search reads; of a method that reads no features their public width alone, or nothing."""

    edges: EdgeReport
    features: FeatureReport | None
    labels: LabelReport

    @classmethod
    def load(cls, edges: PointRef, features: PointRef | None, labels: PointRef) -> Received:
        """Reads the reports of stored points."""
        return cls(
            EdgeReport.load(edges.file(REPORT)),
            FeatureReport.load(features.file(REPORT)) if features else None,
            LabelReport.load(labels.file(REPORT)),
        )

    @property
    def width(self) -> int:
        """Dimensions of the users' features."""
        return self.features.dimensions if self.features else WIDTH

    def rectified(self) -> AffineSparse:
        """The reported features, made unbiased; for a method that reads them."""
        assert self.features is not None
        return rectified(self.features)


@dataclass(frozen=True)
class Plan:
    """The engine's task: one repeat's problem, the grid, how it is trained and how much of it."""

    problem: Problem
    configurations: Sequence[HyperParameters]
    settings: EngineSettings
    strategy: Strategy

    @property
    def model_epochs(self) -> int:
        """An upper bound: as if no model stopped early."""
        count = min(self.strategy.points or len(self.configurations), len(self.configurations))
        return sum(number * epochs for number, epochs in self.strategy.schedule(count, self.settings.epochs))


def planned(
    method: Method, received: Received, backbone: Backbone, device: Device, seed: int, study: NodeClassification
) -> Plan:
    """The plan of a method's search on these reports; ``seed`` is public."""
    tuning = study.search_for(method.name)
    axes = axes_of(tuning)
    values: AffineSparse | NDArray[np.float32]
    if method.features == "reported":
        values = received.rectified()
    elif method.features == "random":
        values = random_features(received.edges.nodes, received.width, seed)
    else:
        values = constant_features(received.edges.nodes, received.width)
    problem = prepared(
        method.calibrated_graph(received.edges),
        values,
        received.labels,
        seed=seed,
        smoothing=study.smoothing,
        dropped=axes.l_y if method.target_smoothing else (),
    )
    configurations = axes.configurations(
        l_x=method.feature_smoothing,
        l_y=method.prediction_smoothing or method.target_smoothing,
        joint=method.joint,
    )
    settings = EngineSettings(
        backbone=backbone,
        epochs=tuning.epochs,
        patience=tuning.patience,
        normalization=study.normalization,
        smooth_loss=tuning.smooth_loss,
        joint=GraphSteps(tuning.step_size, tuning.inner_steps) if method.joint else None,
        device=device,
        workers=1,  # the flow's runner spreads searches over the cores
        memory_mb=tuning.memory_mb,
    )
    strategy = Strategy(
        tuning.strategy, points=tuning.points, minutes=tuning.minutes, factor=tuning.factor, rungs=tuning.rungs
    )
    return Plan(problem, configurations, settings, strategy)


def axes_of(tuning: Search) -> Axes:
    """The grid that params.yaml asks for: a preset, or its own values."""
    if tuning.preset is not None:
        return axes_named(tuning.preset)
    names = ("learning_rate", "dropout", "weight_decay", "l_x", "l_y", "lambda1", "lambda2")
    return Axes(**{name: tuple(getattr(tuning, name)) for name in names})
