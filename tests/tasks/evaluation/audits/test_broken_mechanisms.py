"""A bank of wrong samplers, each put in the place of the right one: the audit's own cases catch them all."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tasks.evaluation.audits import embedding_neighbours, embeddings
from tasks.evaluation.audits.case import AuditCase
from tasks.evaluation.audits.features import neighbours as feature_neighbours
from tasks.evaluation.audits.features import vectors as feature_vectors
from tasks.evaluation.audits.fedwalk import counts as fedwalk_counts
from tasks.evaluation.audits.fedwalk import degree as fedwalk_degree
from tasks.evaluation.audits.fedwalk import encoder as fedwalk_encoder
from tasks.evaluation.audits.fedwalk import lists as fedwalk_lists
from tasks.evaluation.audits.lists import neighbour_lists, relations
from tasks.evaluation.audits.running import FAST_DRAWS, audited
from tests.tasks.evaluation.audits import wrong_fedwalk, wrong_lists, wrong_vectors

DRAWS = 2 * FAST_DRAWS
Places = list[tuple[ModuleType, str]]
Cases = Callable[[], list[AuditCase]]


def list_cases() -> list[AuditCase]:
    return [*neighbour_lists.list_cases(), *relations.relation_cases()]


def feature_cases() -> list[AuditCase]:
    return [*feature_vectors.feature_cases(), *feature_neighbours.neighbour_cases()]


def embedding_cases() -> list[AuditCase]:
    return [*embeddings.embedding_cases(), *embedding_neighbours.few_graphs_cases()]


KINDS: list[tuple[dict[str, Callable], Places, Cases]] = [
    (wrong_lists.WRONG, [(neighbour_lists, "randomise_neighbour_lists")], list_cases),
    (wrong_vectors.FEATURES, [(feature_vectors, "encode_features")], feature_cases),
    (
        wrong_vectors.EMBEDDINGS,
        [(embeddings, "encode_embeddings"), (embedding_neighbours, "encode_embeddings")],
        embedding_cases,
    ),
    (wrong_fedwalk.DEGREES, [(fedwalk_degree, "release_degrees")], fedwalk_degree.degree_cases),
    (wrong_fedwalk.COUNTS, [(fedwalk_counts, "release_neighbour_counts")], fedwalk_counts.count_cases),
    (wrong_fedwalk.ENCODERS, [(fedwalk_encoder, "encoded")], fedwalk_encoder.encoder_cases),
    (wrong_fedwalk.LISTS, [(fedwalk_lists, "release_lists")], fedwalk_lists.encoded_list_cases),
]
BANK = [(name, wrong, places, cases) for bank, places, cases in KINDS for name, wrong in bank.items()]


@pytest.mark.parametrize(("wrong", "places", "cases"), [entry[1:] for entry in BANK], ids=[entry[0] for entry in BANK])
def test_every_wrong_sampler_is_caught(
    wrong: Callable, places: Places, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in places:
        monkeypatch.setattr(module, name, wrong)
    assert any(row.refuted for row in audited(cases(), seed=0, most_draws=DRAWS))


def test_the_bank_is_large() -> None:
    assert len({name for name, *_ in BANK}) >= 50
