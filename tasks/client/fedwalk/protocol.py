"""The walk protocol between devices: one message, its wire form, and how many of them a walk needs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal, get_args

from tasks.errors import UserError

Predictor = Literal["triadic", "sibling"]

_HEADER = struct.Struct("<HddH")
HEADER_BYTES = _HEADER.size
TOKEN_BYTES = 4
LONGEST_WALK = 2**16 - 1


@dataclass(frozen=True)
class WalkMessage:
    """What one device sends to the next, and at the end to the server.

    Attributes:
        remaining: the l of the protocol, steps that remain; a device that receives 1 uploads.
        epsilon: budget of the encoder, infinite for none.
        skip: p, the probability of predicting a two-hop vertex.
        tokens: the encoded walk so far.
    """

    remaining: int
    epsilon: float
    skip: float
    tokens: tuple[int, ...]

    def to_bytes(self) -> bytes:
        """The wire form: a header and four bytes a token."""
        header = _HEADER.pack(self.remaining, self.epsilon, self.skip, len(self.tokens))
        return header + struct.pack(f"<{len(self.tokens)}i", *self.tokens)

    @classmethod
    def from_bytes(cls, wire: bytes) -> WalkMessage:
        """Inverse of ``to_bytes``."""
        remaining, epsilon, skip, count = _HEADER.unpack_from(wire)
        return cls(remaining, epsilon, skip, struct.unpack_from(f"<{count}i", wire, HEADER_BYTES))


def expected_messages(length: int, skip: float) -> float:
    """M(l) = l/(1+p) - (1-(-p)^l)/(1+p)^2, messages between devices in one walk.

    Solves M(1) = 0, M(2) = 1, M(l) = 1 + (1-p) M(l-1) + p M(l-2).
    """
    return length / (1 + skip) - (1 - (-skip) ** length) / (1 + skip) ** 2


def check_walk_settings(length: int, walks: int, skip: float, predictor: str) -> None:
    """UserError that names the first setting out of range."""
    if not 2 <= length <= LONGEST_WALK:
        raise UserError(f"length: {length} is out of range; a walk has 2 to {LONGEST_WALK} vertices")
    if walks < 1:
        raise UserError(f"walks: {walks} is out of range; start 1 or more at every vertex")
    if not 0.0 <= skip <= 1.0:
        raise UserError(f"p: {skip} is no probability; use 0 to 1")
    if predictor not in get_args(Predictor):
        raise UserError(f"predictor: {predictor!r} is unknown; use one of {', '.join(get_args(Predictor))}")
