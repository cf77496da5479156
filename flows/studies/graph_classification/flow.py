"""Graph classification with a Gromov-Wasserstein kernel over locally private embeddings: the GW-LDP study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from flows.context.exports import export_results
from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.execution.submission import Call
from flows.studies.graph_classification.clients import Reports, gather, ledgers
from flows.studies.graph_classification.grid import Cell, baselines
from flows.studies.graph_classification.kernels import Distances, classify, compare
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.analyse_graphs import analyse_distances, read_analysis
from tasks.steps.graph_classification.classify_graphs import read_spectrum
from tasks.steps.graph_classification.graph_sets import STUDY
from tasks.steps.graph_classification.score_graphs import score_graphs
from tasks.steps.node_classification.prediction import Prediction
from tasks.steps.node_classification.score import read_metrics
from tasks.store import PointRef

MECHANISMS = ("tasks.client.embedding_encoder",)
NETWORKS = ("gcn", "gin")
"""Methods without a kernel."""

Points = dict[tuple[Cell, int], PointRef]
"""One point for each cell and repeat."""


def graph_classification(study: Study, tracker: Tracker) -> Outcome:
    """Clients train together and report embeddings once; the curator compares and classifies; the bench scores."""
    sources = study.sources()
    reports = gather(study, sources)
    distances = compare(study, sources, reports)
    predictions = classify(study, sources, reports, distances) | networks(study, reports)
    analyses = analyse(study, sources, distances)
    rows: defaultdict[Cell, list[Row]] = defaultdict(list)
    scores: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)

    for cell, repeat, scored in judge(study, sources, reports, predictions):
        kernel = {} if cell.method in NETWORKS else read_spectrum(predictions[cell, repeat])
        beside = read_analysis(analyses[cell, repeat]) if (cell, repeat) in analyses else {}
        metrics = read_metrics(scored) | kernel | beside
        rows[cell] += [Row(STUDY, cell.dataset, cell.method, cell.settings, repeat, *item) for item in metrics.items()]
        scores[cell][repeat] = scored
        if len(scores[cell]) == study.profile.repeats:
            source = sources[cell.dataset]
            made = {of: Prediction(reports.splits[cell.dataset, of], predictions[cell, of]) for of in scores[cell]}
            tracker.cell(str(cell), rows[cell], scores[cell], source, MECHANISMS, made)

    outcome = study.outcome([row for cell in rows for row in rows[cell]], ledgers(study, study.datasets, reports))
    if study.request.export:
        judged = {(cell, repeat): point for cell in scores for repeat, point in scores[cell].items()}
        for dataset in sources:
            _export(study, outcome, dataset, reports, distances, [predictions, analyses, judged])
    return outcome


def networks(study: Study, reports: Reports) -> Points:
    """The federated networks' own predictions, on raw graphs."""
    return {
        (cell, repeat): trained
        for (name, backbone, repeat), trained in reports.federations.items()
        for cell in baselines(study.profile.graph_classification, name)
        if cell.method == backbone
    }


def analyse(study: Study, sources: Mapping[str, RawSource], distances: dict[tuple[Cell, int], Distances]) -> Points:
    """The bench: how far apart embedded graphs are, and how well neighbours tell their classes."""
    return study.collect(
        Call(
            analyse_distances,
            f"analyse {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[cell.dataset],
                "distances": by_alpha[1.0],
                "label": f"{cell} repeat={repeat}",
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (cell, repeat),
        )
        for (cell, repeat), by_alpha in distances.items()
        if cell.eps
    )


def judge(
    study: Study, sources: dict[str, RawSource], reports: Reports, predictions: Points
) -> Iterator[tuple[Cell, int, PointRef]]:
    """The bench: accuracy on the test graphs, as they are scored."""
    calls = (
        Call(
            score_graphs,
            f"score {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[cell.dataset],
                "split": reports.splits[cell.dataset, repeat],
                "predicted": predicted,
                "label": f"{cell} repeat={repeat}",
            },
            (cell, repeat),
        )
        for (cell, repeat), predicted in predictions.items()
    )
    for done in study.run(calls):
        yield *done.call.about, done.result


def _export(
    study: Study,
    outcome: Outcome,
    dataset: str,
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
    later: list[Points],
) -> None:
    """What the clients sent goes below noisy, everything else below results."""
    sent = reports.points(dataset)
    study.store.export(sent, data_folder("noisy", study.request.profile, STUDY, dataset))
    compared = {point for (cell, _), found in distances.items() if cell.dataset == dataset for point in found.values()}
    made = {point for points in later for (cell, _), point in points.items() if cell.dataset == dataset}
    export_results(study, outcome, dataset, list(compared | made | set(reports.kept(dataset))))
