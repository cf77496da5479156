"""What the attacks are asked for, and the check of it before anything starts: light modules alone are imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.context.project import workspace
from flows.system.output_paths import check_places
from tasks.datasets.catalogue.public import kind_of, require_kind
from tasks.datasets.user.declaration import UserDataset, check_declaration
from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.evaluation.attacks.privacy import refuse_private
from tasks.parameters.values import study_budget

LIST_BUDGETS = ("1", "2", "3", "4", "5", "6", "7", "8", INFINITE)
ENCODER_BUDGETS = ("0.25", "0.5", "1", "2", INFINITE)
STUDIES = ("node_classification", "node_embedding")
GRAPH_BUDGETS = ("1/n", "1", "10", "100", "1000", INFINITE)


@dataclass(frozen=True)
class AttackRequest:
    """One data set to attack.

    Attributes:
        dataset: its name.
        own: its declaration, for one of the user's own.
        budgets: those of a neighbour list; None for a set of graphs, where membership is attacked.
        repeats: how often everything is drawn.
        encoder: budgets of FedWalk's encoder, where its uploads are attacked instead.
    """

    dataset: str
    own: UserDataset | None
    budgets: list[str] | None
    repeats: int
    encoder: list[str] | None = None


def check_attacks(
    dataset: str,
    eps_a: Sequence[str] | None,
    repeats: int,
    own: Mapping[str, UserDataset],
    *,
    study: str = STUDIES[0],
    eps_encoder: Sequence[str] | None = None,
) -> AttackRequest:
    """The request, where nothing is wrong with it; ``own`` are the data sets that the user declared.

    Raises:
        UserError: for an unknown or private data set, a bad budget or number of repeats, or a budget that the data
            set or the study has not.
    """
    budgets = _budgets(eps_a or LIST_BUDGETS, "eps_a")
    encoder = _budgets(eps_encoder or ENCODER_BUDGETS, "eps_encoder")
    if repeats < 1:
        raise UserError(f"--repeats {repeats}: use at least 1")
    kind, declared = kind_of(dataset, own), own.get(dataset)
    if declared:
        refuse_private(dataset, declared.private)
        check_declaration(declared)
    if study == "node_embedding":
        if eps_a:
            raise UserError("--eps-a is no budget of node_embedding; name those of its encoder with --eps-encoder")
        require_kind(study, dataset, kind)
        return AttackRequest(dataset, declared, None, repeats, encoder)
    if eps_encoder:
        raise UserError("--eps-encoder is the budget of FedWalk's encoder; add --study node_embedding")
    if kind != "graphs":
        require_kind("node_classification", dataset, kind)
        return AttackRequest(dataset, declared, budgets, repeats)
    if eps_a:
        raise UserError(
            f"--eps-a is the budget of a neighbour list, and {dataset} is a set of graphs, which is attacked at eps"
            f" {', '.join(GRAPH_BUDGETS)}; leave it out"
        )
    return AttackRequest(dataset, declared, None, repeats)


def _budgets(values: Sequence[str], name: str) -> list[str]:
    budgets = [study_budget(value, name=name) for value in values]
    if len(set(budgets)) < len(budgets):
        raise UserError(f"--{name.replace('_', '-')} names a budget twice; name each once")
    return budgets


@dataclass(frozen=True)
class Places:
    """Where results go: the table, what it was made with (beside it), the figure, and all rows where asked for."""

    csv: Path
    figure: Path
    json: Path | None

    @property
    def record(self) -> Path:
        """Of what the table was made with."""
        return self.csv.with_suffix(".json")

    @classmethod
    def chosen(cls, dataset: str, csv: Path | None, figure: Path | None, json: Path | None) -> Places:
        """What was asked for, else below data/results.

        Raises:
            UserError: for a place that cannot be written.
        """
        folder = workspace() / "data" / "results" / "attacks"
        places = cls(csv or folder / f"{dataset}.csv", figure or folder / f"{dataset}.png", json)
        options = {"--csv": places.csv, "the record of --csv": places.record}
        check_places({**options, "--figure": places.figure, "--json": json}, picture="--figure")
        return places
