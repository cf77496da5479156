"""The differences that FedWalk's figures print in place of values, and ours between the same two points.

Figure 6 says how much micro-F1 gains from few bins to many, figure 8 how much it loses from p = 0 to more two-hop
prediction, by number of walks. Both relative; a condition reads ``bins 3 to 9`` or ``p 0 to 0.4 at 20 walks``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pandas as pd

from tasks.evaluation.node_embedding.embedding_lines import HALF, embedding_lines

_CONDITION = re.compile(r"(bins|p) ([\d.]+) to ([\d.]+)(?: at (\d+) walks)?")
_SETTINGS = {"bins": "k", "p": "p"}
_SIGNS = {"micro_f1_gain": 1, "micro_f1_drop": -1}


@dataclass(frozen=True)
class Change:
    """A published relative change of micro-F1.

    Attributes:
        item, dataset: where it was published, and of which data set.
        setting, start, end: from which value of which setting to which.
        walks, train_ratio: where it was measured; empty where the paper does not say.
        change: relative, negative for a loss.
    """

    item: str
    dataset: str
    setting: str
    start: str
    end: str
    walks: str
    train_ratio: str
    change: float


def published_changes(reference: pd.DataFrame) -> list[Change]:
    """The changes among published figures (``reference.read_reference`` of FedWalk's)."""
    found = []
    for line in reference.to_dict("records"):
        match = _CONDITION.match(line["condition"])
        if match and line["metric"] in _SIGNS:
            name, start, end, walks = match.groups(default="")
            ratio = f"{float(line['train_ratio']):g}" if line["train_ratio"] else ""
            change = _SIGNS[line["metric"]] * line["reference_mean"]
            found.append(Change(line["item"], line["dataset"], _SETTINGS[name], start, end, walks, ratio, change))
    return found


def changes_beside_published(table: pd.DataFrame, published: list[Change]) -> pd.DataFrame:
    """One line for each published change that we measured both ends of, in percent of the start.

    Ours are of mode ``walk``, top-k; where the paper names no training ratio at one half, and where it names no number
    of walks at any of ours.
    """
    columns = ["item", "dataset", "setting", "start", "end", "train_ratio", "walks", "eps_encoder"]
    columns += ["at_start", "at_end", "change_percent", "published_percent"]
    lines = embedding_lines(table, "micro_f1")
    lines = lines[(lines["mode"] == "walk") & (lines["scoring"] == "top_k")]
    rows = []
    for change in published:
        near = lines[(lines["dataset"] == change.dataset) & (lines["train_ratio"] == (change.train_ratio or HALF))]
        near = near[near["walks"] == change.walks] if change.walks else near
        for start, end in _ends(near, change):
            ours = {name: start[name] for name in ("train_ratio", "walks", "eps_encoder")}
            relative = end["mean"] / start["mean"] - 1
            values = {"at_start": start["mean"], "at_end": end["mean"], "change_percent": 100 * relative}
            rows.append(asdict(change) | ours | values | {"published_percent": 100 * change.change})
    return pd.DataFrame(rows, columns=columns)


def _ends(lines: pd.DataFrame, change: Change) -> Iterator[tuple[dict, dict]]:
    others = [name for name in ("walks", "eps_encoder", "p", "k") if name != change.setting]
    for _, group in lines.groupby(others, sort=False):
        ends = {line[change.setting]: line for line in group.to_dict("records")}
        if change.start in ends and change.end in ends:
            yield ends[change.start], ends[change.end]
