"""Step: bring a data set's upstream files into the store, or point at a user's own files."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tasks.code_version import code_version
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset, reader
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.user.declaration import UserDataset
from tasks.point_folder import canonical_json, file_sha256
from tasks.steps.point import point_task
from tasks.store import PointRef, PointStore

USER_PARSER = "tasks.datasets.user.user_graph"


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
    """

    name: str
    folder: Path
    content: str
    point: PointRef | None = None
    own: UserDataset | None = None

    @property
    def private(self) -> bool:
        """Whether digests and raw-data figures must stay with the client."""
        return self.own is not None and self.own.private

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


@point_task(retries=2)
def download(store: PointStore, name: str, own: UserDataset | None = None) -> RawSource:
    """Fetch the public data set ``name``, or describe the user's own graph."""
    if own is not None:
        return RawSource(name, Path(), _own_digest(store, own), own=own)
    dataset = reader(name)
    parser = getattr(dataset.parse, "func", dataset.parse).__module__
    key = {
        "step": "download",
        "dataset": name,
        "files": {file: sorted(manifest()[file].hashes) for file in dataset.files},
        "code": code_version(parser) if dataset.materialise else None,
    }
    point = store.point(key, lambda folder: fetch_dataset(name, folder), label=f"download {name}")
    parsed = hashlib.sha256(f"{point.content} {code_version(parser)}".encode()).hexdigest()
    return RawSource(name, point.folder, parsed, point=point)


def _own_digest(store: PointStore, own: UserDataset) -> str:
    named = {"edges": own.edges, "features": own.features, "labels": own.labels}
    # A missing file is the loader's to refuse.
    files = {role: [path.suffix, file_sha256(path)] for role, path in named.items() if path and path.is_file()}
    declared = {"files": files, "nodes": own.nodes, "bounds": own.feature_bounds, "code": code_version(USER_PARSER)}
    message = canonical_json(declared).encode()
    return hmac.new(store.secret() if own.private else b"public", message, "sha256").hexdigest()
