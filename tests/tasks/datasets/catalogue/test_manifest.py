from __future__ import annotations

import re
from urllib.parse import urlsplit

from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.readers import READERS


def test_every_row_is_complete() -> None:
    for upstream in manifest().values():
        assert upstream.sources
        for source in upstream.sources:
            assert urlsplit(source.url).scheme in {"http", "https"}
            assert " " not in source.url
            assert source.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", source.sha256)
            assert source.size is None or source.size > 0


def test_only_flickr_has_no_published_hash() -> None:
    assert [file for file, upstream in manifest().items() if not upstream.hashes] == ["flickr/flickr.mat"]


def test_the_registry_names_files_of_the_manifest() -> None:
    assert {file for dataset in READERS.values() for file in dataset.files} <= manifest().keys()


def test_repacked_sets_have_two_accepted_hashes() -> None:
    for container in ("MUTAG", "PROTEINS", "IMDB-BINARY"):
        assert len(manifest()[f"tudataset/{container}.zip"].hashes) == 2
