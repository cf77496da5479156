"""Node classification under local differential privacy: the Solitude study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from prefect import flow

from flows.context.exports import export_results
from flows.context.study import Outcome, Study
from flows.execution.submission import Call, Done
from flows.studies.conduct import FLOW, conducted
from flows.studies.node_classification.forecast import expect
from flows.studies.node_classification.grid import SHARED_CHOICE, UNREAD, Cell, lines
from flows.studies.node_classification.reports import Reports, perturb
from flows.studies.scoring import metric_rows, score_and_track
from flows.tracking.mlflow_log import Tracker
from tasks.parameters.classification import NodeClassification
from tasks.parameters.profiles import section_of
from tasks.steps.node_classification.prediction import Prediction
from tasks.steps.node_classification.score import read_metrics, score
from tasks.steps.node_classification.search import TRAINED, search
from tasks.steps.node_classification.search_shared import search_shared, shared_file
from tasks.store import PointRef


@flow(name="node classification", **FLOW)
@conducted("node_classification")
def node_classification(study: Study, tracker: Tracker) -> Outcome:
    """Every user reports once per (data set, budget, repeat); the curator trains on reports; the evaluation scores."""
    sources = study.sources()
    reports = perturb(study, sources)
    predictions: dict[tuple[Cell, int], Prediction] = {}

    def scored() -> Iterator[Done | None]:
        for cell, repeat, trained, file in train(study, reports):
            if not sources[cell.dataset].scored:
                continue
            split = reports.splits[cell.dataset, repeat]
            predictions[cell, repeat] = Prediction(split, trained, file)
            yield study.run_inline(
                study.call(
                    score,
                    "score",
                    cell,
                    repeat,
                    source=sources[cell.dataset],
                    split=split,
                    edges=reports.edges[cell.dataset, cell.line.mode, cell.line.eps_a, repeat],
                    trained=trained,
                    method=cell.line.method,
                    file=file,
                )
            )

    scores = score_and_track(
        study,
        tracker,
        scored(),
        sources,
        lambda cell, repeat, point: metric_rows(study, cell, repeat, read_metrics(point)),
        prediction=lambda cell, repeat: predictions[cell, repeat],
    )
    outcome = study.outcome(scores.all_rows, {"": reports.ledger()})
    if study.request.export:
        for dataset in sources:
            own = {key: point for key, point in scores.points.items() if key[0].dataset == dataset}
            export_results(study, outcome, dataset, [*own.values(), *(predictions[key].predicted for key in own)])
    return outcome


def train(study: Study, reports: Reports) -> Iterator[tuple[Cell, int, PointRef, str]]:
    """The curator's side: every method and backbone on every pair of reports, as they finish.

    Yields cell, repeat, point and the name of the model's file; after the first protocol the second, where asked for.
    """
    grid, repeats = section_of(study.profile, NodeClassification), range(study.profile.repeats)
    calls = [
        study.call(search, "search", cell, repeat, **received, method=cell.line.method, backbone=cell.line.backbone)
        for cell in (Cell(dataset, line) for dataset in study.datasets for line in lines(grid))
        for repeat in repeats
        if (received := reports.of(cell, repeat))
    ]
    expected = expect(study, calls)
    searched: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    finished = []
    for done in study.run(calls):
        cell, repeat = done.call.key
        searched[cell][repeat] = done.result
        finished.append((done.call, done.result))
        yield cell, repeat, done.result, TRAINED
    expected.compare(finished)
    if grid.shared_choice:
        whole = {cell: found for cell, found in searched.items() if len(found) == len(repeats)}
        for done in study.run(_shared(study, reports, whole)):
            yield from ((done.call.key, repeat, done.result, shared_file(repeat)) for repeat in repeats)


def _shared(study: Study, reports: Reports, searched: dict[Cell, dict[int, PointRef]]) -> Iterator[Call]:
    """The second protocol's trainings, one for all repeats of a cell; a method without a network has none."""
    for cell, found in searched.items():
        if cell.line.backbone == UNREAD:
            continue
        shared = replace(cell, protocol=SHARED_CHOICE)
        yield study.call(
            search_shared,
            "search",
            shared,
            key=shared,
            reports=[reports.of(cell, repeat) for repeat in sorted(found)],
            searched=[found[repeat] for repeat in sorted(found)],
            method=cell.line.method,
            backbone=cell.line.backbone,
        )
