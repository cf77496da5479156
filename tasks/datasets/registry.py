"""The data sets by name: which upstream files each needs, and what reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tasks.datasets import digits, multilabel, musae, mutag, nettack, planetoid, tudataset
from tasks.datasets.arrival import is_intact
from tasks.datasets.fetch import fetch_files
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.manifest import manifest
from tasks.datasets.user_graph import UserDataset, load_user_graph
from tasks.errors import UserError

Kind = Literal["nodes", "label sets", "graphs"]


@dataclass(frozen=True)
class PublicDataset:
    """One public set.

    Attributes:
        kind: what carries the classes: nodes one each, nodes several each, or whole graphs.
        parse: reads the folder that ``fetch_dataset`` filled.
        files: upstream files, by their path in the manifest.
        materialise: writes the set from an installed package into a folder, for sets that need no network.
        feature_bounds: declared by the source; None where nodes have no features.
    """

    kind: Kind
    parse: Callable[[Path], RawGraph | RawGraphSet]
    files: tuple[str, ...] = ()
    materialise: Callable[[Path], None] | None = None
    feature_bounds: tuple[float, float] | None = (0.0, 1.0)


def label_sets(name: str) -> PublicDataset:
    """The entry of one set in the MATLAB form."""
    return PublicDataset("label sets", partial(multilabel.parse, name), (multilabel.FILES[name],), feature_bounds=None)


def tu_graphs(name: str, feature_bounds: tuple[float, float] | None) -> PublicDataset:
    """The entry of one set in the form of TUDataset."""
    file = f"tudataset/{tudataset.CONTAINERS[name]}.zip"
    return PublicDataset("graphs", partial(tudataset.parse, name), (file,), feature_bounds=feature_bounds)


PUBLIC: dict[str, PublicDataset] = {
    "digits": PublicDataset("nodes", digits.parse, materialise=digits.materialise),
    "cora": PublicDataset("nodes", partial(planetoid.parse, "cora"), planetoid.file_names("cora")),
    "citeseer": PublicDataset("nodes", partial(planetoid.parse, "citeseer"), planetoid.file_names("citeseer")),
    "citeseer-lcc": PublicDataset("nodes", nettack.parse, (nettack.FILE,)),
    "lastfm": PublicDataset("nodes", musae.parse_lastfm, musae.LASTFM_FILES),
    "facebook": PublicDataset("nodes", musae.parse_facebook, musae.FACEBOOK_FILES),
    "mutag": PublicDataset("graphs", mutag.parse, materialise=mutag.materialise),
    "proteins": tu_graphs("proteins", (0.0, 1.0)),
    "imdb-binary": tu_graphs("imdb-binary", None),
    "blogcatalog": label_sets("blogcatalog"),
    "flickr": label_sets("flickr"),
    "ppi": label_sets("ppi"),
}


def dataset_names() -> tuple[str, ...]:
    """The names of the public sets."""
    return tuple(PUBLIC)


def public_dataset(name: str, own: Mapping[str, UserDataset] | None = None) -> PublicDataset:
    """The entry of a public set.

    Raises:
        UserError: for an unknown name.
    """
    if name not in PUBLIC:
        known = ", ".join([*PUBLIC, *(own or {})])
        raise UserError(f"data set {name!r} is unknown; choose from {known}, or declare your own in params.yaml")
    return PUBLIC[name]


def fetch_dataset(name: str, raw_dir: Path, own: Mapping[str, UserDataset] | None = None) -> None:
    """Puts the files of a public set below ``raw_dir / name``; intact ones are not fetched again.

    A user's own files stay where they are: nothing is copied.

    Raises:
        UserError: for an unknown name, or a file that cannot be had.
    """
    if user_dataset(name, own):
        return
    dataset, folder = public_dataset(name, own), Path(raw_dir) / name
    fetch_files([manifest()[file] for file in dataset.files], folder)
    if dataset.materialise:
        materialise(dataset.materialise, folder)


def load_dataset(name: str, raw_dir: Path, own: Mapping[str, UserDataset] | None = None) -> RawGraph | RawGraphSet:
    """Parses what ``fetch_dataset`` brought, or a user's own files.

    Raises:
        UserError: for an unknown name, for missing or damaged files, and for data that break their declaration.
    """
    if mine := user_dataset(name, own):
        return load_user_graph(mine)
    dataset, folder = public_dataset(name, own), Path(raw_dir) / name
    for file in dataset.files:
        upstream = manifest()[file]
        if not is_intact(upstream, folder / upstream.name):
            raise UserError(f"{folder / upstream.name}: missing or damaged; run the download step for {name!r} again")
    return parse_public(name, folder)


def parse_public(name: str, folder: Path) -> RawGraph | RawGraphSet:
    """Parses a public set's folder; whatever foreign bytes provoke in the parsers, the user reads one line.

    Raises:
        UserError: when the files are not as their publisher or the installed package gave them.
    """
    try:
        return PUBLIC[name].parse(folder)
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"{folder}: the files of {name!r} are not as published ({type(error).__name__}); delete them and run the"
            " download step again"
        ) from error


def user_dataset(name: str, own: Mapping[str, UserDataset] | None) -> UserDataset | None:
    """The user's own set of that name, or None.

    Raises:
        UserError: when it bears the name of a public set.
    """
    mine = (own or {}).get(name)
    if mine is not None and name in PUBLIC:
        raise UserError(f"data set {name!r} of your own bears the name of a public one; choose another name")
    return mine


def materialise(write: Callable[[Path], None], folder: Path) -> None:
    """Lets ``write`` fill a temporary folder, then renames its files into place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".part-", dir=folder) as scratch:
            write(Path(scratch))
            for part in Path(scratch).iterdir():
                part.replace(folder / part.name)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); free the place or choose another") from error
