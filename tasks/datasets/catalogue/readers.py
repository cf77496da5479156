"""What reads each data set of the catalogue, and which upstream files it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.datasets import digits, multilabel, musae, mutag, nettack, planetoid, tudataset
from tasks.datasets.catalogue.arrival import is_intact
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.public import public_dataset, user_dataset
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.user.declaration import UserDataset
from tasks.datasets.user.user_graph import load_user_graph
from tasks.errors import UserError


@dataclass(frozen=True)
class Reader:
    """What reads one public set.

    Attributes:
        parse: reads the folder that ``fetch_dataset`` filled.
        files: upstream files, by their path in the manifest.
        materialise: writes the set from an installed package into a folder, for sets that need no network.
    """

    parse: Callable[[Path], RawGraph | RawGraphSet]
    files: tuple[str, ...] = ()
    materialise: Callable[[Path], None] | None = None


def label_sets(name: str) -> Reader:
    """Reads one set in the MATLAB form."""
    return Reader(partial(multilabel.parse, name), (multilabel.FILES[name],))


def tu_graphs(name: str) -> Reader:
    """Reads one set in the form of TUDataset."""
    return Reader(partial(tudataset.parse, name), (f"tudataset/{tudataset.CONTAINERS[name]}.zip",))


READERS: dict[str, Reader] = {
    "digits": Reader(digits.parse, materialise=digits.materialise),
    "cora": Reader(partial(planetoid.parse, "cora"), planetoid.file_names("cora")),
    "citeseer": Reader(partial(planetoid.parse, "citeseer"), planetoid.file_names("citeseer")),
    "citeseer-lcc": Reader(nettack.parse, (nettack.FILE,)),
    "lastfm": Reader(musae.parse_lastfm, musae.LASTFM_FILES),
    "facebook": Reader(musae.parse_facebook, musae.FACEBOOK_FILES),
    "mutag": Reader(mutag.parse, materialise=mutag.materialise),
    "proteins": tu_graphs("proteins"),
    "imdb-binary": tu_graphs("imdb-binary"),
    "blogcatalog": label_sets("blogcatalog"),
    "flickr": label_sets("flickr"),
    "ppi": label_sets("ppi"),
}


def reader(name: str, own: Mapping[str, UserDataset] | None = None) -> Reader:
    """What reads a public set.

    Raises:
        UserError: for an unknown name.
    """
    public_dataset(name, own)
    return READERS[name]


def fetch_dataset(name: str, raw_dir: Path, own: Mapping[str, UserDataset] | None = None) -> None:
    """Puts the files of a public set below ``raw_dir / name``; intact ones are not fetched again.

    A user's own files stay where they are: nothing is copied.

    Raises:
        UserError: for an unknown name, or a file that cannot be had.
    """
    if user_dataset(name, own):
        return
    dataset, folder = reader(name, own), Path(raw_dir) / name
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
    dataset, folder = reader(name, own), Path(raw_dir) / name
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
        return READERS[name].parse(folder)
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"{folder}: the files of {name!r} are not as published ({type(error).__name__}); delete them and run the"
            " download step again"
        ) from error


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
