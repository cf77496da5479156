"""What a user declares about a graph of their own, and what can be told of it without reading the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tasks.errors import UserError

TABLES = {".csv": ",", ".tsv": "\t"}
"""Kinds of text files and their separators."""
MAX_NODES = 100_000_000  # a mistyped id must not become an allocation of this many rows and more


@dataclass(frozen=True)
class UserDataset:
    """A graph of the user's own.

    Attributes:
        name: how the studies call it.
        edges: csv or tsv (two columns of node ids 0..N-1, heading optional) or npz (array ``edges``, (E, 2)).
        features: csv, tsv, npy or npz, row i for node i; None for none.
        labels: csv or tsv (node, class) or npz (vector ``labels``, -1 = unknown); None for none. Class names
            become 0, 1, ... in ascending order, numbers before words.
        nodes: N; None takes it from the features, else from the largest id.
        feature_bounds: (low, high), from public knowledge; required with features.
        private: whether the graph is somebody's secret.
        budget: of a private graph, what may ever be spent, by unit of protection; None for no limit.
        account: folder of the account of what was spent; None for one beside the file of edges.
        fresh_noise: draw the reports of a private graph anew for every repeat, and pay for each.
        scores: score a private graph; without, nothing that depends on its test labels is computed.
        draw_again: draw reports that were lost or damaged once more, and pay for them again.
    """

    name: str
    edges: Path
    features: Path | None = None
    labels: Path | None = None
    nodes: int | None = None
    feature_bounds: tuple[float, float] | None = None
    private: bool = True
    budget: tuple[tuple[str, str], ...] | None = None
    account: Path | None = None
    fresh_noise: bool = False
    scores: bool = True
    draw_again: bool = False

    @property
    def account_folder(self) -> Path:
        """Where the account is; one and the same for every name and link of a file."""
        edges = self.edges.resolve()
        return self.account or edges.with_name(f"{edges.name}.account")


def check_declaration(declared: UserDataset) -> None:
    """Refuse what contradicts itself, and files that are not there or of no known kind.

    Raises:
        UserError: one line that names the file or the key.
    """
    if declared.nodes is not None and not 0 < declared.nodes <= MAX_NODES:
        raise UserError(f"{declared.name}: nodes must lie between 1 and {MAX_NODES}")
    if declared.features is not None and declared.feature_bounds is None:
        raise UserError(
            f"{declared.name}: declare feature_bounds [low, high] from public knowledge; bounds read from the values"
            " would break the guarantee"
        )
    for place in filter(None, (declared.edges, declared.features, declared.labels)):
        if place.suffix not in (*TABLES, ".npz") and not (place is declared.features and place.suffix == ".npy"):
            raise UserError(f"{place}: unknown kind of file; use .csv, .tsv or .npz (features also .npy)")
        try:
            place.open("rb").close()
        except OSError as error:
            raise UserError(f"{place}: cannot be read ({error.strerror}); check the path in params.yaml") from None
