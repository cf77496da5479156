"""Federated node embedding with private random walks: the FedWalk study."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from flows.context.exports import export_results
from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.execution.submission import Call
from flows.studies.node_embedding.grid import Cell, wanted_lines
from flows.studies.node_embedding.ledgers import ledgers
from flows.studies.node_embedding.trees import Trees, plant
from flows.studies.node_embedding.walks import AllWalks, all_walks
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.download import RawSource
from tasks.steps.node_embedding.embed import embed
from tasks.steps.node_embedding.score_embedding import read_recovery, read_scores, recover_edges, score_embedding
from tasks.steps.node_embedding.tree import STUDY
from tasks.steps.node_embedding.walks import read_traffic
from tasks.store import PointRef

MECHANISMS = ("tasks.client.fedwalk.walks", "tasks.client.fedwalk.encoded_lists", "tasks.client.randomized_response")

Points = dict[tuple[Cell, int], PointRef]
"""One point for each cell and repeat."""


def node_embedding(study: Study, tracker: Tracker) -> Outcome:
    """Devices build a tree and walk under the encoder; the server learns vectors; the bench attacks and scores."""
    sources = study.sources()
    wanted = wanted_lines(study.profile.node_embedding, list(sources), study.profile.repeats)
    trees = plant(study, sources, wanted)
    walks = all_walks(study, sources, trees, wanted)
    recovered = attack(study, sources, walks)
    embeddings = learn(study, sources, walks)
    rows: defaultdict[Cell, list[Row]] = defaultdict(list)
    scores: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    repeats = Counter(cell for cell, _ in walks)

    for cell, repeat, scored in judge(study, sources, embeddings):
        private = sources[cell.dataset].private
        costs = read_traffic(walks[cell, repeat].corpus, private=private) if cell.p else {}
        leaks = read_recovery(recovered[cell, repeat]) if (cell, repeat) in recovered else {}
        rows[cell] += _rows(cell, repeat, scored, costs | leaks)
        scores[cell][repeat] = scored
        if len(scores[cell]) == repeats[cell]:
            _track(tracker, cell, rows[cell], scores[cell], sources[cell.dataset])

    found = [row for cell in rows for row in rows[cell]]
    outcome = study.outcome(found, ledgers(study, sources, walks, found))
    if study.request.export:
        judged = {(cell, repeat): point for cell in scores for repeat, point in scores[cell].items()}
        for dataset in sources:
            _export(study, outcome, dataset, trees, walks, [recovered, embeddings, judged])
    return outcome


def attack(study: Study, sources: dict[str, RawSource], walks: AllWalks) -> Points:
    """How many edges an observer of the uploads recovers; never asked of a private graph."""
    return study.collect(
        Call(
            recover_edges,
            f"recover edges {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[cell.dataset],
                "uploads": made.uploads,
                "form": made.form,
                "label": f"{cell} repeat={repeat}",
            },
            (cell, repeat),
        )
        for (cell, repeat), made in walks.items()
        if made.uploads is not None and not sources[cell.dataset].private
    )


def learn(study: Study, sources: dict[str, RawSource], walks: AllWalks) -> Points:
    """The server's side: skip-gram over each set of walks."""
    grid = study.profile.node_embedding
    return study.collect(
        Call(
            embed,
            f"embed {cell} repeat={repeat}",
            {
                "store": study.store,
                "walks": made.corpus,
                "dimensions": grid.dimensions,
                "window": grid.window,
                "threads": grid.threads,
                "dataset": cell.dataset,
                "label": str(cell),
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (cell, repeat),
        )
        for (cell, repeat), made in walks.items()
    )


def judge(study: Study, sources: dict[str, RawSource], embeddings: Points) -> Iterator[tuple[Cell, int, PointRef]]:
    """The bench: F1 of every embedding, as they are scored."""
    grid = study.profile.node_embedding
    calls = (
        Call(
            score_embedding,
            f"score {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[cell.dataset],
                "embedding": vectors,
                "train_ratios": grid.train_ratios,
                "splits": grid.splits,
                "label": str(cell),
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (cell, repeat),
        )
        for (cell, repeat), vectors in embeddings.items()
    )
    for done in study.run(calls):
        yield *done.call.about, done.result


def _rows(cell: Cell, repeat: int, scores: PointRef, beside: dict[str, float]) -> Iterator[Row]:
    """F1 by training ratio and protocol; what the walks cost and give away stands beside each."""
    for (train_ratio, scoring), f1 in read_scores(scores).items():
        settings = cell.settings | {"train_ratio": f"{train_ratio:g}", "scoring": scoring}
        for metric, value in (f1 | beside).items():
            yield Row(STUDY, cell.dataset, cell.method, settings, repeat, metric, value)


def _track(tracker: Tracker, cell: Cell, rows: list[Row], scores: dict[int, PointRef], source: RawSource) -> None:
    lines: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        lines[row.settings["train_ratio"], row.settings["scoring"]].append(row)
    for (train_ratio, scoring), line in lines.items():
        name = f"{cell} train_ratio={train_ratio} {scoring}"
        tracker.cell(name, line, scores, source, MECHANISMS)


def _export(study: Study, outcome: Outcome, dataset: str, trees: Trees, walks: AllWalks, results: list[Points]) -> None:
    """What the users sent goes below noisy, what the server and the bench made of it below results."""
    made = [walks for (cell, _), walks in walks.items() if cell.dataset == dataset]
    reports = {report for walks in made for report in walks.reports}
    study.store.export(list(reports), data_folder("noisy", study.request.profile, STUDY, dataset))
    planted = {tree.point for (name, *_), tree in trees.items() if name == dataset}
    later = {point for points in results for (cell, _), point in points.items() if cell.dataset == dataset}
    export_results(study, outcome, dataset, list((planted | {walks.corpus for walks in made} | later) - reports))
