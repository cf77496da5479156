"""Steps on the clients' side: which ego graphs of a large graph are studied, and these as a source like any set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tasks.client.ego_graphs import draw_centres, ego_graphs
from tasks.code_version import code_version
from tasks.datasets.catalogue.ego_names import ego_name
from tasks.datasets.graph import RawGraphSet
from tasks.seeds import derive_seed, generator
from tasks.steps.declaration import Draft
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.seeds import EVALUATION, Seed
from tasks.steps.sides import call_apart
from tasks.store import PointRef

STUDY = "ego_clustering"
CENTRES = "centres.npy"
CODE = "tasks.client.ego_graphs"


@dataclass(frozen=True)
class EgoSource(RawSource):
    """Ego graphs of another source's graph, which are cut when they are needed.

    Attributes:
        whole: the graph they are cut from.
        hops: how far they reach.
    """

    whole: RawSource | None = None
    hops: int = 1

    def load(self) -> RawGraphSet:
        """Cut the ego graphs; repeated loads in one process share one object."""
        return _cut(self)


@lru_cache(maxsize=4)
def _cut(source: EgoSource) -> RawGraphSet:
    assert source.whole is not None
    return ego_graphs(one_graph(source.whole, STUDY), np.load(source.folder / CENTRES), source.hops)


@point(
    "draw centres",
    label="centres {source.name} repeat={repeat}",
    seed=Seed(STUDY, "{graphs} centres", EVALUATION, derive_seed),
)
def draw_ego_centres(draft: Draft, source: RawSource, *, graphs: int, repeat: int, seed: int | None) -> None:
    """The centres of one repeat, which ego graphs of any reach share."""
    np.save(draft.file(CENTRES), draw_centres(one_graph(source, STUDY), graphs, generator(draft.seed)))


def ego_source(whole: RawSource, centres: PointRef, hops: int) -> EgoSource:
    """The ego graphs around these centres. Of a private graph the digest is as secret as that of its own key."""
    # The content of a private point is a function of raw data; its digest is keyed with the store's secret.
    drawn = centres.digest if whole.private else centres.content
    content = hashlib.sha256(f"{whole.content} {drawn} {hops} {code_version(CODE)}".encode()).hexdigest()
    data = f"{whole.data} {centres.content} {hops}" if whole.private else ""
    return EgoSource(ego_name(whole.name, hops), centres.folder, content, centres, whole.own, data, whole, hops)


def class_count(source: EgoSource) -> int:
    """The number of classes, which is public; a private graph is read in a process of its clients."""
    return int(call_apart(classes_of, f"classes {source.name}", source=source))


def classes_of(source: EgoSource) -> int:
    """The number of classes, read here."""
    return source.load().classes
