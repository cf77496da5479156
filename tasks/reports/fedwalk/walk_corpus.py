"""Walks on disk, one file a round, so that readers stream them: Flickr's 258 million tokens need no memory.

A token takes two bytes where the ids fit, else four.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError

END = -1
"""Fills a row after the end of a walk."""
_STORED_END = 0xFFFF
"""``END`` in two bytes."""
_INDEX = "walks.json"


@dataclass(frozen=True)
class WalkCorpus:
    """Rounds of walks in a folder.

    Attributes:
        folder: where the files lie.
        nodes: V; every token is below it.
        length: tokens in the longest possible walk.
        rounds: number of files.
        tokens: tokens in all rounds.
    """

    folder: Path
    nodes: int
    length: int
    rounds: int
    tokens: int

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        """Each round as int32 (walks, length)."""
        for number in range(self.rounds):
            stored = np.load(_round_path(self.folder, number), mmap_mode="r", allow_pickle=False)
            if stored.dtype != _stored_type(self.nodes):
                raise ValueError("a round is not stored as its number of vertices asks for")
            walks = stored.astype(np.int32)
            if stored.dtype == np.uint16:
                walks[stored == _STORED_END] = END
            yield walks

    def frequencies(self) -> NDArray[np.int64]:
        """How often every vertex occurs, int64 (V,)."""
        counts = np.zeros(self.nodes, dtype=np.int64)
        for walks in self:
            counts += np.bincount(walks[walks != END], minlength=self.nodes)
        return counts

    @classmethod
    def write(cls, folder: Path, rounds: Iterable[NDArray[np.int32]], *, nodes: int, length: int) -> WalkCorpus:
        """Writes rounds as they come; equal walks give equal bytes.

        Args:
            folder: made if missing.
            rounds: int32 (walks, length) arrays, ``END`` after the end of a walk.
            nodes, length: as in the attributes.
        """
        folder.mkdir(parents=True, exist_ok=True)
        count = tokens = 0
        for walks in rounds:
            # END becomes the largest number of two bytes.
            np.save(_round_path(folder, count), walks.astype(_stored_type(nodes)), allow_pickle=False)
            count, tokens = count + 1, tokens + int((walks != END).sum())
        index = {"nodes": nodes, "length": length, "rounds": count, "tokens": tokens}
        (folder / _INDEX).write_text(json.dumps(index, sort_keys=True) + "\n")
        return cls(folder, **index)

    @classmethod
    def open(cls, folder: Path) -> WalkCorpus:
        """Opens what ``write`` wrote.

        Raises:
            UserError: when the folder holds no such walks or a token is out of range.
        """
        try:
            index = json.loads((folder / _INDEX).read_text())
            corpus = cls(folder, **{name: int(index[name]) for name in ("nodes", "length", "rounds", "tokens")})
            for walks in corpus:
                fits = walks.ndim == 2 and walks.shape[1] == corpus.length
                if not fits or walks.min(initial=END) < END or walks.max(initial=END) >= corpus.nodes:
                    raise ValueError("a round does not fit the index")
        except Exception as error:  # foreign bytes raise nearly anything
            raise UserError(f"{folder}: no sound walks ({type(error).__name__}); make them again") from None
        return corpus


def _stored_type(nodes: int) -> type[np.generic]:
    return np.uint16 if nodes <= _STORED_END else np.int32


def _round_path(folder: Path, number: int) -> Path:
    return folder / f"round-{number:04d}.npy"
