"""Federated node embedding with private random walks: the FedWalk study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prefect import flow

from flows.context.exports import export_results
from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.studies.conduct import FLOW, conducted
from flows.studies.node_embedding.grid import Cell, wanted_lines
from flows.studies.node_embedding.ledgers import ledgers
from flows.studies.node_embedding.trees import Trees, build_trees
from flows.studies.node_embedding.walks import AllWalks, all_walks
from flows.studies.scoring import Points, score_and_track
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.profiles import section_of
from tasks.steps.download import RawSource
from tasks.steps.node_embedding.embed import embed
from tasks.steps.node_embedding.score_embedding import read_recovery, read_scores, recover_edges, score_embedding
from tasks.steps.node_embedding.tree import publish_degrees
from tasks.steps.node_embedding.walks import read_traffic
from tasks.store import PointRef

DEGREES = "degrees"


@flow(name="node embedding", **FLOW)
@conducted("node_embedding")
def node_embedding(study: Study, tracker: Tracker) -> Outcome:
    """Devices build a tree and walk under the encoder; the server learns vectors; the evaluation attacks and scores."""
    sources = study.sources()
    wanted = wanted_lines(section_of(study.profile, NodeEmbedding), list(sources), study.profile.repeats)
    trees = build_trees(study, sources, wanted)
    walks = all_walks(study, sources, trees, wanted)
    recovered = attack(study, sources, walks)
    baseline = attack_degrees(study, sources, trees, recovered)
    embeddings = learn(study, walks)

    def rows_of(cell: Cell, repeat: int, scored: PointRef) -> Iterator[Row]:
        """F1 by training ratio and protocol; what the walks cost and give away stands beside each."""
        private = sources[cell.dataset].private
        costs = read_traffic(walks[cell, repeat].corpus, private=private) if cell.p else {}
        leaks: dict[str, float] = {}
        if (cell, repeat) in recovered:
            leaks = read_recovery(recovered[cell, repeat])
            leaks["edge_degree_recall"] = read_recovery(baseline[Cell(cell.dataset, DEGREES), repeat])["edge_recall"]
        for (train_ratio, scoring), f1 in read_scores(scored).items():
            settings = cell.settings | {"train_ratio": f"{train_ratio:g}", "scoring": scoring}
            for metric, value in (f1 | costs | leaks).items():
                yield Row(study.name, cell.dataset, cell.method, settings, repeat, metric, value)

    scores = score_and_track(
        study,
        tracker,
        study.run(
            study.call(
                score_embedding,
                "score",
                cell,
                repeat,
                source=sources[cell.dataset],
                embedding=vectors,
                label=str(cell),
            )
            for (cell, repeat), vectors in embeddings.items()
            if sources[cell.dataset].scored
        ),
        sources,
        rows_of,
        repeats=Counter(cell for cell, _ in walks),
    )
    outcome = study.outcome(scores.all_rows, ledgers(sources, walks, scores.all_rows))
    if study.request.export:
        for dataset in sources:
            _export(study, outcome, dataset, trees, walks, [recovered, baseline, embeddings, scores.points])
    return outcome


def attack(study: Study, sources: dict[str, RawSource], walks: AllWalks) -> Points:
    """How many edges an observer of the uploads recovers; never asked of a private graph."""
    return study.collect(
        study.call(
            recover_edges,
            "recover edges",
            cell,
            repeat,
            source=sources[cell.dataset],
            uploads=made.uploads,
            form=made.form,
        )
        for (cell, repeat), made in walks.items()
        if made.uploads is not None and not sources[cell.dataset].private
    )


def attack_degrees(study: Study, sources: dict[str, RawSource], trees: Trees, recovered: Points) -> Points:
    """The baseline of ``attack``, one for a data set and repeat: how many edges noisy degrees alone tell."""
    eps_degree = section_of(study.profile, NodeEmbedding).eps_degree
    degrees = {(name, repeat): tree.reports[0] for (name, kind, repeat, _), tree in trees.items() if kind == "private"}
    wanted = dict.fromkeys((cell.dataset, repeat) for cell, repeat in recovered)
    degrees |= study.collect(
        study.call(
            publish_degrees,
            "publish degrees",
            f"{name} eps_degree={eps_degree}",
            repeat,
            key=(name, repeat),
            source=sources[name],
        )
        for name, repeat in wanted
        if (name, repeat) not in degrees
    )
    return study.collect(
        study.call(
            recover_edges,
            "recover edges",
            Cell(name, DEGREES),
            repeat,
            source=sources[name],
            uploads=degrees[name, repeat],
            form=DEGREES,
        )
        for name, repeat in wanted
    )


def learn(study: Study, walks: AllWalks) -> Points:
    """The server's side: skip-gram over each set of walks."""
    return study.collect(
        study.call(embed, "embed", cell, repeat, walks=made.corpus, label=str(cell))
        for (cell, repeat), made in walks.items()
    )


def _export(study: Study, outcome: Outcome, dataset: str, trees: Trees, walks: AllWalks, results: list[Points]) -> None:
    """What the users sent goes below noisy, what the server and the evaluation made of it below results."""
    made = [walks for (cell, _), walks in walks.items() if cell.dataset == dataset]
    reports = {report for walks in made for report in walks.reports}
    study.store.export(list(reports), data_folder("noisy", study.request.profile, study.name, dataset))
    built = {tree.point for (name, *_), tree in trees.items() if name == dataset}
    later = {point for points in results for (cell, _), point in points.items() if cell.dataset == dataset}
    export_results(study, outcome, dataset, list((built | {walks.corpus for walks in made} | later) - reports))
