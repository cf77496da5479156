"""The protocol run device by device, every message through its wire form: slow, plain, the compiled path's judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk import walk_slots as slots
from tasks.client.fedwalk.encoder import Encoder, encode
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.client.fedwalk.protocol import Predictor, WalkMessage
from tasks.counter_draws import below, stream, uniform
from tasks.reports.fedwalk.walks import Traffic


@dataclass(frozen=True)
class Sent:
    """A message and where it goes: to a device, or to the server when ``receiver`` is None."""

    receiver: int | None
    message: WalkMessage


@dataclass(frozen=True)
class Device:
    """One device: it knows its own neighbour list and the broadcast tree, and answers one message at a time.

    Attributes:
        vertex: its id.
        neighbours: its list, int32 sorted.
        encoder: made from the broadcast tree.
        epsilon: budget that the encoder was made for.
        predictor: rule for the two-hop vertex.
    """

    vertex: int
    neighbours: NDArray[np.int32]
    encoder: Encoder
    epsilon: float
    predictor: Predictor

    def start(self, length: int, skip: float, draws: np.uint64) -> Sent:
        """Starts a walk of ``length`` vertices with its own encoded id."""
        first = self._encoded(self.vertex, draws, slots.START_CLIMB, slots.START_PICK)
        return self.receive(WalkMessage(length, self.epsilon, skip, (first,)), draws)

    def receive(self, message: WalkMessage, draws: np.uint64) -> Sent:
        """Chooses a neighbour, perhaps predicts one step more, and forwards the walk; or uploads it."""
        if message.remaining == 1 or not len(self.neighbours):
            return Sent(None, message)
        base = message.remaining * slots.PER_STEP
        chosen = below(draws, base + slots.NEIGHBOUR, len(self.neighbours))
        neighbour = int(self.neighbours[chosen])
        token = self._encoded(neighbour, draws, base + slots.NEIGHBOUR_CLIMB, base + slots.NEIGHBOUR_PICK)
        tokens = (*message.tokens, token)
        if message.remaining > 2 and uniform(draws, base + slots.TRIGGER) < message.skip:
            second = self._two_hop(neighbour, chosen, draws, base + slots.SECOND)
            if second is not None:
                token = self._encoded(second, draws, base + slots.SECOND_CLIMB, base + slots.SECOND_PICK)
                return Sent(second, WalkMessage(message.remaining - 2, self.epsilon, message.skip, (*tokens, token)))
        return Sent(neighbour, WalkMessage(message.remaining - 1, self.epsilon, message.skip, tokens))

    def _two_hop(self, neighbour: int, chosen: int, draws: np.uint64, slot: int) -> int | None:
        """A guess at a neighbour's neighbour; None when the device has nothing to guess from."""
        if self.predictor == "triadic":
            others = np.delete(self.neighbours, chosen)
        else:
            tree = self.encoder.tree
            beside = tree.sibling[neighbour]
            others = tree.order[tree.first[beside] : tree.first[beside] + tree.size[beside]]
        return int(others[below(draws, slot, len(others))]) if len(others) else None

    def _encoded(self, vertex: int, draws: np.uint64, climb: int, pick: int) -> int:
        return int(encode(self.encoder, vertex, uniform(draws, climb), uniform(draws, pick)))


def devices_for(
    lists: NeighbourLists, encoder: Encoder, *, epsilon: float, predictor: Predictor = "triadic"
) -> list[Device]:
    """One device a vertex, each given its own list."""
    return [Device(v, lists.of(v).copy(), encoder, epsilon, predictor) for v in range(lists.nodes)]


def simulated_round(
    devices: list[Device], starts: NDArray[np.int64], *, walk: int, length: int, skip: float, key: np.uint64
) -> tuple[NDArray[np.int32], Traffic]:
    """One walk from every start, row i numbered ``walk + starts[i]``.

    Returns:
        int32 (starts, length) of encoded vertices, -1 after the end of a walk, and the traffic.
    """
    tokens = np.full((len(starts), length), -1, dtype=np.int32)
    traffic = Traffic()
    for row, start in enumerate(starts.tolist()):
        draws = np.uint64(stream(key, walk + start))
        sent = devices[start].start(length, skip, draws)
        while sent.receiver is not None:
            wire = sent.message.to_bytes()
            traffic += Traffic(messages=1, message_bytes=len(wire))
            sent = devices[sent.receiver].receive(WalkMessage.from_bytes(wire), draws)
        traffic += Traffic(uploads=1, upload_bytes=len(sent.message.to_bytes()))
        tokens[row, : len(sent.message.tokens)] = sent.message.tokens
    return tokens, traffic
