"""The second protocol: one configuration for all repeats, and only as one of its own, labelled ``shared choice``.

Splits differ between repeats, so a choice that all repeats share has read, as validation labels of one repeat, some of
the test labels of another. Published grids are often searched that way; the figures are not comparable with the first
protocol's, where every repeat chooses by its own validation nodes alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.trained import CONFIGURATION_COLUMNS, Trained
from tasks.errors import UserError


def shared_configuration(tables: Sequence[pd.DataFrame]) -> HyperParameters:
    """The configuration with the best mean validation accuracy (ties: lower mean loss, then the earlier configuration).

    Compared are the configurations that reached the last round in every repeat; after halving they may be few.

    Raises:
        UserError: when there is no such configuration.
    """
    last = max(table["rounds"].max() for table in tables)
    joined = pd.concat([table[table["rounds"] == last] for table in tables])
    grouped = joined.groupby(list(CONFIGURATION_COLUMNS), sort=False)
    means = grouped[["validation_accuracy", "validation_loss"]].mean()[grouped.size() == len(tables)]
    if means.empty:
        raise UserError(
            "no configuration was trained to its end in all repeats; search with the strategy full or random"
        )
    best = means.sort_values(["validation_accuracy", "validation_loss"], ascending=[False, True], kind="stable")
    return HyperParameters(*(value.item() for value in best.index[0]))


def train_shared(
    problems: Sequence[Problem], tables: Sequence[pd.DataFrame], settings: EngineSettings
) -> tuple[Trained, ...]:
    """Trains the shared configuration in every repeat; the tables come from a search over these problems."""
    configuration = shared_configuration(tables)
    return train_batch(problems, [[configuration]] * len(problems), settings).trained
