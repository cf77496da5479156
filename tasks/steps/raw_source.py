"""Where raw data are: what a step of the clients or of the evaluation takes in place of the data themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tasks.datasets.catalogue.public import require_kind
from tasks.datasets.catalogue.readers import load_dataset
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.user.declaration import UserDataset
from tasks.store import PointRef


@dataclass(frozen=True)
class RawSource:
    """Where a data set's raw files are, for the client and the evaluation only.

    Attributes:
        name: the data set.
        folder: what the loader reads below.
        content: digest of the files and of the code that parses them; a keyed one for a private set, so that
            nobody can test a guess of the data with it.
        point: the stored point, None for a user's own files, which are never copied.
        own: the declaration of a user's own graph.
        data: of a private set, digest of its files alone, keyed with its account's secret; what reports are asked for.
    """

    name: str
    folder: Path
    content: str
    point: PointRef | None = None
    own: UserDataset | None = None
    data: str = ""

    @property
    def private(self) -> bool:
        """Whether digests and raw-data figures must stay with the client."""
        return self.own is not None and self.own.private

    @property
    def scored(self) -> bool:
        """Whether test labels may be read."""
        return self.own is None or self.own.scores

    @property
    def cached(self) -> bool:
        """Whether nothing had to be fetched."""
        return self.point is None or self.point.cached

    def load(self) -> RawGraph | RawGraphSet:
        """Parse the raw files; repeated loads in one process share one object."""
        return _load(self)


@lru_cache(maxsize=4)
def _load(source: RawSource) -> RawGraph | RawGraphSet:
    own = {source.name: source.own} if source.own else {}
    return load_dataset(source.name, source.folder, own)


def one_graph(source: RawSource, study: str) -> RawGraph:
    """The raw graph; UserError when the data set is not one graph of the kind that the study needs."""
    graph = source.load()
    require_kind(study, source.name, graph.kind)
    assert isinstance(graph, RawGraph)
    return graph
