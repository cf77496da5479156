"""Step: skip-gram over walks, streamed from the store."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np

from tasks.code_version import code_version
from tasks.curator.fedwalk.skip_gram import Progress, skip_gram
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.steps.node_embedding.tree import STUDY
from tasks.steps.point import point_task
from tasks.steps.progress_bar import progress_bar
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

EMBEDDING = "embedding.npy"

log = logging.getLogger("pipeline")


@point_task()
def embed(
    store: PointStore,
    walks: PointRef,
    *,
    dimensions: int,
    window: int,
    threads: int,
    dataset: str,
    label: str,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """One vector a vertex. More than one thread is faster and not reproducible; the key says how many there were."""
    point = f"skip-gram d={dimensions} window={window}"
    embed_seed = curator_seed(seed, study=STUDY, dataset=dataset, point=point, repeat=repeat)

    name = f"embed {label} repeat={repeat}"

    def compute(folder: Path) -> None:
        corpus = WalkCorpus.open(walks.folder)
        vectors = skip_gram(
            corpus,
            seed=embed_seed,
            dimensions=dimensions,
            window=window,
            workers=threads,
            progress=occasionally(name),
        )
        np.save(folder / EMBEDDING, vectors)

    key = {
        "step": "embed",
        "walks": walks.content,
        "dimensions": dimensions,
        "window": window,
        "threads": threads,
        "seed": embed_seed,
        "code": code_version("tasks.curator.fedwalk.skip_gram"),
    }
    return store.point(key, compute, label=name, private=walks.raw)


def occasionally(name: str, seconds: float = 30.0) -> Progress:
    """Tells progress and speed, at most once in so many seconds."""
    last = time.monotonic()
    show = progress_bar(name)

    def progress(done: int, tokens: int, rate: float) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            log.info("%s: %.0f%% of %s tokens, %s tokens/s", name, 100 * done / tokens, f"{tokens:,}", f"{rate:,.0f}")
            show(100 * done / tokens)

    return progress
