"""Which lines of a table are controls: what a private method must be told apart from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.epsilon import INFINITE

_METHODS = {
    "non-private": "no noise, no privacy: the ceiling",
    "base": "no calibration: reports as they came",
    "label-propagation": "no features, no network",
    "node-count": "reads the number of nodes alone",
    "deepwalk": "raw graph, no privacy",
}
_PARTS = {"random-features": "random features instead of reported ones", "constant-features": "no features at all"}
_MODES = {
    "walk-random-tree": "random tree: tokens without structure",
    "randomized-response": "no walks: randomised response on the lists",
}


def control_of(line: Mapping[Any, Any]) -> str:
    """Why a line of a summary (method and settings) is a control; empty if it is none."""
    words = str(line["method"]).split(" (")[0].split(" + ")
    reasons = [_METHODS[word] for word in words[:1] if word in _METHODS and len(words) == 1]
    reasons += [_PARTS[word] for word in words if word in _PARTS]
    reasons += [_MODES[mode] for mode in [line.get("mode")] if mode in _MODES]
    if line.get("input") == "raw":
        reasons.append("raw graphs, no privacy")
    if line.get("encoder") == "none" and line.get("eps") == INFINITE:
        reasons.append("embeddings without noise")
    return "; ".join(reasons)
