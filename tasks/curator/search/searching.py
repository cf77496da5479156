"""Search over a grid for all repeats of one (data set, eps_x, eps_a): rounds and outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.search.forecast import forecast
from tasks.curator.search.strategy import Strategy, random_subset
from tasks.curator.trained import CONFIGURATION_COLUMNS, SEARCH_COLUMNS, Trained

Rows = dict[HyperParameters, tuple[float, ...]]
COLUMNS = (*SEARCH_COLUMNS, "epochs", "rounds")


@dataclass(frozen=True)
class Found:
    """The outcome of a search: one ``Trained`` per problem, and what it took.

    The table of a ``Trained`` has a row for every configuration, as far as it was trained: ``epochs``, and the number
    of the last of its ``rounds``.
    """

    trained: tuple[Trained, ...]
    model_epochs: int
    notes: tuple[str, ...]


def search(
    problems: Sequence[Problem],
    grid: Sequence[HyperParameters],
    settings: EngineSettings,
    strategy: Strategy,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Found:
    """Per problem the best configuration by validation accuracy (ties: lower loss, then the earlier), fully trained.

    All strategies keep that contract. In halving a configuration that is dropped was beaten by one that went on, and a
    longer run's best epoch is never worse than its beginning's: so the best of the last round is the best of the table.

    Args:
        problems: the repeats.
        grid: the configurations to choose from, the same for all repeats.
        settings: of the engine.
        strategy: which of the configurations are trained, and how long.
        seed: of the random subset; public.
        progress: called with the model-epochs of every model that is done.

    Raises:
        UserError: as ``train_batch``.
    """
    started = time.monotonic()
    configurations = tuple(grid) if strategy.points is None else random_subset(grid, strategy.points, seed)
    until = None
    if strategy.minutes is not None:
        expected = forecast(problems, configurations, settings, strategy)
        if expected.minutes > strategy.minutes:
            affordable = max(1, int(len(configurations) * strategy.minutes / expected.minutes))
            configurations = random_subset(configurations, affordable, seed)
        until = started + 60 * strategy.minutes
    rows: list[Rows] = [{} for _ in problems]
    survivors = [configurations] * len(problems)
    model_epochs, notes = 0, dict[str, None]()
    for number, (count, epochs) in enumerate(strategy.schedule(len(configurations), settings.epochs), start=1):
        survivors = [_best(known, survived, count) for known, survived in zip(rows, survivors, strict=True)]
        run = train_batch(problems, survivors, replace(settings, epochs=epochs), until=until, progress=progress)
        for known, trained in zip(rows, run.trained, strict=True):
            known |= {
                HyperParameters(*row[: len(CONFIGURATION_COLUMNS)]): (*row, number)
                for row in trained.search.itertuples(index=False, name=None)
            }
        model_epochs += run.model_epochs
        notes |= dict.fromkeys(run.notes)
    return Found(
        trained=tuple(
            _completed(trained, known, configurations) for trained, known in zip(run.trained, rows, strict=True)
        ),
        model_epochs=model_epochs,
        notes=tuple(notes),
    )


def _best(known: Rows, candidates: tuple[HyperParameters, ...], count: int) -> tuple[HyperParameters, ...]:
    """The best ``count`` of the configurations that were trained, in the grid's order; before the first round all."""
    if not known:
        return candidates
    trained = [configuration for configuration in candidates if configuration in known]
    accuracy, loss = COLUMNS.index("validation_accuracy"), COLUMNS.index("validation_loss")
    chosen = set(sorted(trained, key=lambda tried: (-known[tried][accuracy], known[tried][loss]))[:count])
    return tuple(configuration for configuration in trained if configuration in chosen)


def _completed(trained: Trained, known: Rows, configurations: tuple[HyperParameters, ...]) -> Trained:
    """The last round's choice with the table of all rounds."""
    order = [configuration for configuration in configurations if configuration in known]
    search = pd.DataFrame([known[configuration] for configuration in order], columns=list(COLUMNS))
    return replace(trained, search=search, chosen=order.index(trained.hyper_parameters))
