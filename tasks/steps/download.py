"""Step: bring a data set's upstream files into the store, or point at a user's own files."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path

from tasks.account.archive import ReportArchive
from tasks.code_version import code_version
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.readers import fetch_dataset, reader
from tasks.datasets.user.declaration import UserDataset
from tasks.point_folder import canonical_json, file_sha256
from tasks.steps.declaration import Declaration, Draft, Given
from tasks.steps.point import point_task
from tasks.steps.raw_source import RawSource
from tasks.store import PointStore

USER_PARSER = "tasks.datasets.user.user_graph"


@point_task(retries=2)
def download(store: PointStore, name: str, own: UserDataset | None = None) -> RawSource:
    """Fetch the public data set ``name``, or describe the user's own graph."""
    if own is not None:
        return _own_source(own)
    point = fetched(store, name)
    parsed = hashlib.sha256(f"{point.content} {code_version(_parser(name))}".encode()).hexdigest()
    return RawSource(name, point.folder, parsed, point=point)


def _fetch(draft: Draft, dataset: str) -> None:
    fetch_dataset(dataset, draft.folder)


def _files(of: Given) -> dict[str, object]:
    return {"files": {file: sorted(manifest()[file].hashes) for file in reader(of.dataset).files}}


fetched = Declaration(
    _fetch,
    "download",
    "download {dataset}",
    also=_files,
    # Files as they came are checked by the manifest's hashes; others are as good as what made them.
    code=lambda of, named: [_parser(of.dataset)] if reader(of.dataset).materialise else [],
)


def _parser(name: str) -> str:
    parse = reader(name).parse
    return str(getattr(parse, "func", parse).__module__)


def _own_source(own: UserDataset) -> RawSource:
    named = {"edges": own.edges, "features": own.features, "labels": own.labels}
    # A missing file is the loader's to refuse.
    files = {role: [path.suffix, file_sha256(path)] for role, path in named.items() if path and path.is_file()}
    declared = {"files": files, "nodes": own.nodes, "bounds": own.feature_bounds}
    # Of private files a digest without a secret would let anybody test a guess.
    secret = ReportArchive(own).secret() if own.private else b"public"

    def digest(content: Mapping[str, object]) -> str:
        return hmac.new(secret, canonical_json(content).encode(), "sha256").hexdigest()

    parsed = digest({**declared, "code": code_version(USER_PARSER)})
    return RawSource(own.name, Path(), parsed, own=own, data=digest(declared) if own.private else "")
