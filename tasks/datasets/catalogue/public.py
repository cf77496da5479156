"""The data sets by name and what each is good for; ``tasks.datasets.catalogue.readers`` has what reads each of them.

A request is checked against it before anything starts, so it imports no parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.datasets.kinds import Kind
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError


@dataclass(frozen=True)
class PublicDataset:
    """One public set: its kind, and the features' bounds as its source declares them (None: nodes have no features)."""

    kind: Kind
    feature_bounds: tuple[float, float] | None = (0.0, 1.0)


PUBLIC: dict[str, PublicDataset] = {
    "digits": PublicDataset("nodes"),
    "cora": PublicDataset("nodes"),
    "citeseer": PublicDataset("nodes"),
    "citeseer-lcc": PublicDataset("nodes"),
    "lastfm": PublicDataset("nodes"),
    "facebook": PublicDataset("nodes"),
    "mutag": PublicDataset("graphs"),
    "proteins": PublicDataset("graphs"),
    "imdb-binary": PublicDataset("graphs", None),
    "blogcatalog": PublicDataset("label sets", None),
    "flickr": PublicDataset("label sets", None),
    "ppi": PublicDataset("label sets", None),
}


def public_dataset(name: str, own: Mapping[str, UserDataset] | None = None) -> PublicDataset:
    """The entry of a public set.

    Raises:
        UserError: for an unknown name.
    """
    if name not in PUBLIC:
        known = ", ".join([*PUBLIC, *(own or {})])
        raise UserError(f"data set {name!r} is unknown; choose from {known}, or declare your own in params.yaml")
    return PUBLIC[name]


def user_dataset(name: str, own: Mapping[str, UserDataset] | None) -> UserDataset | None:
    """The user's own set of that name, or None.

    Raises:
        UserError: when it bears the name of a public set.
    """
    mine = (own or {}).get(name)
    if mine is not None and name in PUBLIC:
        raise UserError(f"data set {name!r} of your own bears the name of a public one; choose another name")
    return mine


def kind_of(name: str, own: Mapping[str, UserDataset]) -> Kind:
    """The kind of a public set, or of one's own as it is declared.

    Raises:
        UserError: for an unknown name, and for a set of one's own with a public set's name.
    """
    mine = user_dataset(name, own)
    if mine is None:
        return public_dataset(name, own).kind
    return "no classes" if mine.labels is None else "nodes"


def require_kind(study: str, name: str, kind: Kind) -> None:
    """Refuse a data set that a study can do nothing with; studies that are not named here take every kind.

    Raises:
        UserError: naming the set and what the study needs.
    """
    if study in ("node_classification", "perturb") and kind != "nodes":
        raise UserError(f"{name} has no single class per node; node classification needs one")
    if study == "graph_classification" and kind != "graphs":
        raise UserError(f"{name} is one graph; graph classification needs a set of graphs, such as mutag")
    if study in ("node_embedding", "ego_clustering") and kind == "graphs":
        raise UserError(f"{name} is a set of graphs; {study.replace('_', ' ')} needs one graph: take --dataset digits")
    if study == "ego_clustering" and kind != "nodes":
        raise UserError(f"{name} has no class for each node; ego graphs take their class from the centre")
