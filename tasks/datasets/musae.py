"""Two social networks: LastFM Asia and Facebook pages.

Sources: Rozemberczki & Sarkar, "Characteristic Functions on Graphs", CIKM 2020 (LastFM Asia); Rozemberczki, Allen,
Sarkar, "Multi-scale Attributed Node Embedding", Journal of Complex Networks 2021 (Facebook).
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tasks.datasets.archive import read_archive
from tasks.datasets.graph import RawGraph, undirected
from tasks.errors import UserError

FACEBOOK_FILES = tuple(f"facebook_large/facebook_{part}" for part in ("edges.csv", "features.json", "target.csv"))
FACEBOOK_DIMENSIONS = 4714
LASTFM_FILES = tuple(f"lastfm_asia/lastfm_asia{part}" for part in ("_edges.csv", "_target.csv", ".zip"))
LASTFM_DIMENSIONS = 7842
# Node classification keeps the ten largest of the 18 classes, as LPGNN and Solitude do; the largest is class 0.
LASTFM_CLASSES = (17, 10, 0, 6, 14, 3, 8, 5, 15, 16)
LASTFM_FEATURES = "lasftm_asia/lastfm_asia_features.json"  # spelt so by its publisher
LASTFM_FEATURES_SHA256 = "93fe84c96ffa9f0081ab37085979641062393895925de6c344df0f829c8ed2e7"


def parse_facebook(folder: Path) -> RawGraph:
    """22,470 pages; the class is the page's type, in alphabetic order."""
    with (folder / "facebook_target.csv").open(encoding="utf-8", newline="") as table:
        kinds = {int(row["id"]): row["page_type"] for row in csv.DictReader(table)}
    _, labels = np.unique([kinds[node] for node in range(len(kinds))], return_inverse=True)
    heads, tails = read_pairs(folder / "facebook_edges.csv").T
    adjacency, _, _ = undirected(len(labels), heads, tails)
    content = (folder / "facebook_features.json").read_bytes()
    features = indicator_features(content, len(labels), FACEBOOK_DIMENSIONS)
    return RawGraph("facebook", adjacency, features, labels.astype(np.int64), private=False)


def parse_lastfm(folder: Path) -> RawGraph:
    """7083 users of the ten largest countries; the features are the artists they like."""
    adjacency, labels = lastfm_structure(folder)
    archive = folder / "lastfm_asia.zip"
    content = read_archive(archive).get(LASTFM_FEATURES, b"")
    if hashlib.sha256(content).hexdigest() != LASTFM_FEATURES_SHA256:
        raise UserError(f"{archive}: {LASTFM_FEATURES} is missing or not the published file; download it again")
    features = indicator_features(content, len(labels), LASTFM_DIMENSIONS)
    kept = np.flatnonzero(labels >= 0)
    return RawGraph("lastfm", adjacency[kept][:, kept], features[kept], labels[kept], private=False)


def lastfm_structure(folder: Path) -> tuple[csr_array, NDArray[np.int64]]:
    """The whole network of 7624 users, and for each its rank in ``LASTFM_CLASSES``, -1 for the other classes."""
    targets = read_pairs(folder / "lastfm_asia_target.csv")
    rank = np.full(targets[:, 1].max() + 1, -1, dtype=np.int64)
    rank[list(LASTFM_CLASSES)] = np.arange(len(LASTFM_CLASSES))
    labels = np.empty(len(targets), dtype=np.int64)
    labels[targets[:, 0]] = rank[targets[:, 1]]
    heads, tails = read_pairs(folder / "lastfm_asia_edges.csv").T
    return undirected(len(targets), heads, tails)[0], labels


def read_pairs(path: Path) -> NDArray[np.int64]:
    """(n, 2) int64 from a csv file of two columns with one heading line."""
    return np.loadtxt(path, dtype=np.int64, delimiter=",", skiprows=1, ndmin=2)


def indicator_features(content: bytes, nodes: int, dimensions: int) -> csr_array:
    """(nodes, dimensions) float32 0/1 from a JSON object {node: [indices of its features]}."""
    listed = {int(node): indices for node, indices in json.loads(content).items()}
    rows = np.repeat(list(listed), [len(indices) for indices in listed.values()])
    columns = np.concatenate([np.asarray(indices, dtype=np.int64) for indices in listed.values()])
    matrix = csr_array(coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(nodes, dimensions)))
    matrix.data[:] = 1  # an index listed twice counts once
    return matrix
