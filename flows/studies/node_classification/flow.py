"""Node classification under local differential privacy: the Solitude study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from flows.context.exports import export_results
from flows.context.study import Outcome, Study
from flows.execution.submission import Call
from flows.studies.node_classification.forecast import expect
from flows.studies.node_classification.grid import SHARED_CHOICE, UNREAD, Cell, lines
from flows.studies.node_classification.reports import Reports, perturb
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.download import RawSource
from tasks.steps.node_classification.prediction import Prediction
from tasks.steps.node_classification.score import read_metrics, score
from tasks.steps.node_classification.search import TRAINED, search
from tasks.steps.node_classification.search_shared import search_shared, shared_file
from tasks.store import PointRef

STUDY = "node_classification"
MECHANISMS = ("tasks.client.randomized_response", "tasks.client.multibit")


def node_classification(study: Study, tracker: Tracker) -> Outcome:
    """Every user reports once per (data set, budget, repeat); the curator trains on the reports; the bench scores."""
    sources = study.sources()
    reports = perturb(study, sources)
    rows: defaultdict[Cell, list[Row]] = defaultdict(list)
    scores: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    predictions: defaultdict[Cell, dict[int, Prediction]] = defaultdict(dict)
    results: defaultdict[str, list[PointRef]] = defaultdict(list)

    for cell, repeat, trained, file in train(study, reports):
        done = study.here(_score(study, sources[cell.dataset], reports, cell, repeat, trained, file))
        if done is None:
            continue
        metrics = read_metrics(done.result)
        rows[cell] += [Row(STUDY, cell.dataset, cell.method, cell.settings, repeat, *item) for item in metrics.items()]
        scores[cell][repeat] = done.result
        predictions[cell][repeat] = Prediction(reports.splits[cell.dataset, repeat], trained, file)
        results[cell.dataset] += [trained, done.result]
        if len(scores[cell]) == study.profile.repeats:
            tracker.cell(str(cell), rows[cell], scores[cell], sources[cell.dataset], MECHANISMS, predictions[cell])

    outcome = study.outcome([row for cell in rows for row in rows[cell]], {"": reports.ledger()})
    if study.request.export:
        for dataset in sources:
            export_results(study, outcome, dataset, results[dataset])
    return outcome


def train(study: Study, reports: Reports) -> Iterator[tuple[Cell, int, PointRef, str]]:
    """The curator's side: every method and backbone on every pair of reports, as they finish.

    Yields cell, repeat, point and the name of the model's file; after the first protocol the second, where asked for.
    """
    grid, repeats = study.profile.node_classification, range(study.profile.repeats)
    calls = [
        Call(
            search,
            f"search {cell} repeat={repeat}",
            {
                "store": study.store,
                **received,
                "dataset": cell.dataset,
                "method": cell.line.method,
                "backbone": cell.line.backbone,
                "repeat": repeat,
                "seed": study.profile.seed,
                "device": study.profile.device,
                "study": grid,
            },
            (cell, repeat),
        )
        for cell in (Cell(dataset, line) for dataset in study.datasets for line in lines(grid))
        for repeat in repeats
        if (received := reports.of(cell, repeat))
    ]
    expected = expect(study, calls)
    searched: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    finished = []
    for done in study.run(calls):
        cell, repeat = done.call.about
        searched[cell][repeat] = done.result
        finished.append((done.call, done.result))
        yield cell, repeat, done.result, TRAINED
    expected.compare(finished)
    if grid.shared_choice:
        whole = {cell: found for cell, found in searched.items() if len(found) == len(repeats)}
        for done in study.run(_shared(study, reports, whole)):
            cell = replace(done.call.about, protocol=SHARED_CHOICE)
            yield from ((cell, repeat, done.result, shared_file(repeat)) for repeat in repeats)


def _shared(study: Study, reports: Reports, searched: dict[Cell, dict[int, PointRef]]) -> Iterator[Call]:
    """The second protocol's trainings, one for all repeats of a cell; a method without a network has none."""
    for cell, found in searched.items():
        if cell.line.backbone == UNREAD:
            continue
        arguments = {
            "store": study.store,
            "reports": [reports.of(cell, repeat) for repeat in sorted(found)],
            "searched": [found[repeat] for repeat in sorted(found)],
            "dataset": cell.dataset,
            "method": cell.line.method,
            "backbone": cell.line.backbone,
            "seed": study.profile.seed,
            "device": study.profile.device,
            "study": study.profile.node_classification,
        }
        yield Call(search_shared, f"search {replace(cell, protocol=SHARED_CHOICE)}", arguments, cell)


def _score(
    study: Study, source: RawSource, reports: Reports, cell: Cell, repeat: int, trained: PointRef, file: str
) -> Call:
    arguments = {
        "store": study.store,
        "source": source,
        "split": reports.splits[cell.dataset, repeat],
        "edges": reports.edges[cell.dataset, cell.line.mode, cell.line.eps_a, repeat],
        "trained": trained,
        "method": cell.line.method,
        "label": f"{cell} repeat={repeat}",
        "file": file,
    }
    return Call(score, f"score {cell} repeat={repeat}", arguments)
