"""The report of encoded walks: what the server receives in ``walk`` mode."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tasks.errors import UserError
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_FILE = "report.json"


@dataclass(frozen=True)
class Traffic:
    """What went over the wire.

    Attributes:
        messages, message_bytes: between devices.
        uploads, upload_bytes: from the last device of a walk to the server.
    """

    messages: int = 0
    message_bytes: int = 0
    uploads: int = 0
    upload_bytes: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.messages + other.messages,
            self.message_bytes + other.message_bytes,
            self.uploads + other.uploads,
            self.upload_bytes + other.upload_bytes,
        )

    @property
    def messages_per_walk(self) -> float:
        """Messages between devices per uploaded walk."""
        return self.messages / max(self.uploads, 1)

    @property
    def bytes_per_walk(self) -> float:
        """Bytes of messages between devices per uploaded walk."""
        return self.message_bytes / max(self.uploads, 1)


@dataclass(frozen=True)
class WalkReport:
    """Encoded walks with what they cost.

    Attributes:
        corpus: the walks, on disk.
        epsilon: canonical budget of the encoder, per level of the tree.
        skip: p, the probability of predicting a two-hop vertex.
        predictor: rule for the two-hop vertex.
        traffic: messages and bytes.
        ledger: makes no claim for a walk.

    Raises:
        UserError: without the ledger line of walks.
    """

    corpus: WalkCorpus
    epsilon: str
    skip: float
    predictor: str
    traffic: Traffic
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "walks", report="walk report")

    def save(self) -> None:
        """Writes the report beside its walks."""
        content = {
            "epsilon": self.epsilon,
            "skip": self.skip,
            "predictor": self.predictor,
            "traffic": asdict(self.traffic),
            "ledger": self.ledger.to_json(),
        }
        (self.corpus.folder / _FILE).write_text(json.dumps(content, sort_keys=True) + "\n")

    @classmethod
    def load(cls, folder: Path) -> WalkReport:
        """Reads what ``save`` wrote; UserError when it is damaged."""
        corpus = WalkCorpus.open(folder)
        try:
            content = json.loads((folder / _FILE).read_text())
            return cls(
                corpus=corpus,
                epsilon=str(content["epsilon"]),
                skip=float(content["skip"]),
                predictor=str(content["predictor"]),
                traffic=Traffic(**{name: int(value) for name, value in content["traffic"].items()}),
                ledger=LedgerLine.from_json(content["ledger"]),
            )
        except Exception as error:  # foreign bytes raise nearly anything
            raise UserError(f"{folder}: no sound walk report ({type(error).__name__}); make it again") from None
