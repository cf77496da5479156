"""Step: skip-gram over walks, streamed from the store."""

from __future__ import annotations

import logging

import numpy as np

from tasks.curator.fedwalk.skip_gram import Progress, skip_gram
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.steps.declaration import Draft
from tasks.steps.node_embedding.tree import STUDY
from tasks.steps.point import point
from tasks.steps.progress import every, progress_bar
from tasks.steps.seeds import Seed
from tasks.store import PointRef

EMBEDDING = "embedding.npy"

log = logging.getLogger("pipeline")


@point(
    label="embed {label} repeat={repeat}",
    seed=Seed(STUDY, "skip-gram d={dimensions} window={window}"),
    ignore=("dataset", "label", "repeat"),
)
def embed(
    draft: Draft,
    walks: PointRef,
    *,
    dimensions: int,
    window: int,
    threads: int,
    dataset: str,
    label: str,
    repeat: int,
    seed: int | None,
) -> None:
    """One vector a vertex. More than one thread is faster and not reproducible; the key says how many there were."""
    vectors = skip_gram(
        WalkCorpus.open(walks.folder),
        seed=draft.seed,
        dimensions=dimensions,
        window=window,
        workers=threads,
        progress=occasionally(draft.label),
    )
    np.save(draft.file(EMBEDDING), vectors)


def occasionally(name: str, seconds: float = 30.0) -> Progress:
    """Tells progress and speed, at most once in so many seconds."""
    due, show = every(seconds), progress_bar(name)

    def progress(done: int, tokens: int, rate: float) -> None:
        if due():
            log.info("%s: %.0f%% of %s tokens, %s tokens/s", name, 100 * done / tokens, f"{tokens:,}", f"{rate:,.0f}")
            show(100 * done / tokens)

    return progress
