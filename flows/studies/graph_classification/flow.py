"""Graph classification with a Gromov-Wasserstein kernel over locally private embeddings: the GW-LDP study."""

from __future__ import annotations

from collections.abc import Mapping

from prefect import flow

from flows.context.exports import export_results
from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.studies.conduct import FLOW, conducted
from flows.studies.graph_classification.clients import Reports, gather, ledgers
from flows.studies.graph_classification.grid import Cell, baselines
from flows.studies.graph_classification.kernels import Distances, classify, compare
from flows.studies.scoring import Points, metric_rows, score_and_track
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.parameters.graphs import GraphClassification
from tasks.parameters.profiles import section_of
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.analyse_graphs import analyse_distances, read_analysis
from tasks.steps.graph_classification.classify_graphs import read_spectrum
from tasks.steps.graph_classification.score_graphs import score_graphs
from tasks.steps.node_classification.prediction import Prediction
from tasks.steps.node_classification.score import read_metrics
from tasks.store import PointRef

NETWORKS = ("gcn", "gin")
"""Methods without a kernel."""


@flow(name="graph classification", **FLOW)
@conducted("graph_classification")
def graph_classification(study: Study, tracker: Tracker) -> Outcome:
    """Clients train together and report embeddings once; the curator compares and classifies; the evaluation scores."""
    sources = study.sources()
    reports = gather(study, sources)
    distances = compare(study, sources, reports)
    predictions = classify(study, sources, reports, distances) | networks(study, reports)
    analyses = analyse(study, sources, distances)

    def rows_of(cell: Cell, repeat: int, scored: PointRef) -> list[Row]:
        kernel = {} if cell.method in NETWORKS else read_spectrum(predictions[cell, repeat])
        beside = read_analysis(analyses[cell, repeat]) if (cell, repeat) in analyses else {}
        return metric_rows(study, cell, repeat, read_metrics(scored) | kernel | beside)

    scores = score_and_track(
        study,
        tracker,
        study.run(
            study.call(
                score_graphs,
                "score",
                cell,
                repeat,
                source=sources[cell.dataset],
                split=reports.splits[cell.dataset, repeat],
                predicted=predicted,
            )
            for (cell, repeat), predicted in predictions.items()
        ),
        sources,
        rows_of,
        prediction=lambda cell, repeat: Prediction(reports.splits[cell.dataset, repeat], predictions[cell, repeat]),
    )
    outcome = study.outcome(scores.all_rows, ledgers(study, study.datasets, reports))
    if study.request.export:
        for dataset in sources:
            _export(study, outcome, dataset, reports, distances, [predictions, analyses, scores.points])
    return outcome


def networks(study: Study, reports: Reports) -> Points:
    """The federated networks' own predictions, on raw graphs."""
    return {
        (cell, repeat): trained
        for (name, backbone, repeat), trained in reports.federations.items()
        for cell in baselines(section_of(study.profile, GraphClassification), name)
        if cell.method == backbone
    }


def analyse(study: Study, sources: Mapping[str, RawSource], distances: dict[tuple[Cell, int], Distances]) -> Points:
    """The evaluation: how far apart embedded graphs are, and how well neighbours tell their classes."""
    return study.collect(
        study.call(analyse_distances, "analyse", cell, repeat, source=sources[cell.dataset], distances=by_alpha[1.0])
        for (cell, repeat), by_alpha in distances.items()
        if cell.eps
    )


def _export(
    study: Study,
    outcome: Outcome,
    dataset: str,
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
    later: list[Points],
) -> None:
    """What the clients sent goes below noisy, everything else below results."""
    study.store.export(reports.points(dataset), data_folder("noisy", study.request.profile, study.name, dataset))
    compared = {point for (cell, _), found in distances.items() if cell.dataset == dataset for point in found.values()}
    made = {point for points in later for (cell, _), point in points.items() if cell.dataset == dataset}
    export_results(study, outcome, dataset, list(compared | made | set(reports.kept(dataset))))
