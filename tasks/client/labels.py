"""Labels of training and validation nodes or graphs, sent in clear: the method assumes that the curator knows them."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.reports.label import LabelReport
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, uncharged
from tasks.reports.ledgers.units import in_clear


def reveal_labels(
    labels: NDArray[np.int64],
    train: NDArray[np.int64],
    validation: NDArray[np.int64],
    *,
    classes: int,
    dataset: str,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
    of: Literal["nodes", "graphs"] = "nodes",
) -> LabelReport:
    """The labels of the chosen nodes, and of no other node.

    Args:
        labels: int64 (N,), -1 where unknown.
        train, validation: node ids, disjoint.
        classes: number of classes.
        dataset: name for the ledger.
        notes: remarks for the ledger.
        charge: called with the ledger's line before anything is drawn.
        of: what bears the labels, in the ledger's words.

    Raises:
        UserError: when no class is known, an id is out of range, a chosen label is unknown or the two sets overlap.
    """
    if classes < 1:
        raise UserError(f"{dataset}: no node has a known class; give the labels of some nodes")
    train_nodes, validation_nodes = (np.sort(np.asarray(ids, dtype=np.int64)) for ids in (train, validation))
    for ids in (train_nodes, validation_nodes):
        if len(ids) and (ids[0] < 0 or ids[-1] >= len(labels)):
            raise UserError(f"{dataset}: a labelled node id is out of range; make the split again for this data set")
    key = hashlib.sha256(b"labels" + dataset.encode() + train_nodes.tobytes() + b"|" + validation_nodes.tobytes())
    line = charge(
        LedgerLine(
            mechanism="labels in clear",
            dataset=dataset,
            deployment_key="labels",
            report_key=key.hexdigest()[:32],
            epsilon=INFINITE,
            unit="label",
            statement="no guarantee: the curator knows the training and validation labels in clear",
            not_protected=f"labels of training and validation {of}",
            guarantee=False,
            simulated=False,
            spends=tuple(in_clear("labels").items()),
            declared_public=True,
            notes=notes,
        )
    )
    known = np.asarray(labels, dtype=np.int64)
    return LabelReport(
        train_nodes=train_nodes,
        train_labels=known[train_nodes],
        validation_nodes=validation_nodes,
        validation_labels=known[validation_nodes],
        classes=classes,
        ledger=line,
    )
