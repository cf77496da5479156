"""The protocol run device by device, every message through its wire form: slow, plain, the compiled path's judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.device import Device
from tasks.client.fedwalk.encoder import Encoder
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.client.fedwalk.protocol import Predictor, WalkMessage
from tasks.counter_draws import stream
from tasks.reports.fedwalk.walks import Traffic


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
