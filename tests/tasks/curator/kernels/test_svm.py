import numpy as np
import pytest
from sklearn.svm import SVC

from tasks.client.labels import reveal_labels
from tasks.curator.kernels.distances import node_count_distances
from tasks.curator.kernels.gromov_kernel import gromov_kernels
from tasks.curator.kernels.spectrum import spectrum_of
from tasks.curator.kernels.svm import PENALTIES, choose_svm
from tasks.errors import UserError
from tasks.reports.label import LabelReport


def problem(seed: int = 0, classes: int = 2) -> tuple[np.ndarray, np.ndarray, LabelReport, np.ndarray]:
    """Graphs whose size says most of the class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=90)
    distances = node_count_distances(rng.poisson(8 + 9 * labels))
    report = reveal_labels(labels, np.arange(60), np.arange(60, 78), classes=classes, dataset="toy")
    return distances, labels, report, np.arange(78, 90)


@pytest.mark.parametrize("classes", [2, 3])
def test_search_equals_an_exhaustive_one(classes: int) -> None:
    """Also where the search skips values of C: every row of its table is fitted anew here."""
    distances, labels, report, _ = problem(classes=classes)
    chosen = choose_svm(gromov_kernels({1.0: distances}, report.train_nodes, gammas=(0.25, 1, 8)), report)
    expected = []
    for _, columns in gromov_kernels({1.0: distances}, report.train_nodes, gammas=(0.25, 1, 8)):
        for penalty in PENALTIES:
            machine = SVC(C=penalty, kernel="precomputed").fit(columns[:60], labels[:60])
            expected.append((machine.predict(columns[60:78]) == labels[60:78]).mean())
    assert chosen.search["validation_accuracy"].tolist() == pytest.approx(expected)
    assert chosen.validation_accuracy == max(expected)
    assert chosen.search["converged"].all()
    ties = chosen.search[chosen.search["validation_accuracy"] == max(expected)]
    assert chosen.settings["C"] == ties["C"].min()


def test_predictions_come_from_the_chosen_machine_and_generalise() -> None:
    distances, labels, report, test = problem()
    chosen = choose_svm(gromov_kernels({1.0: distances}, report.train_nodes), report)
    ((_, columns),) = gromov_kernels({1.0: distances}, report.train_nodes, gammas=[chosen.settings["gamma"]])
    machine = SVC(C=chosen.settings["C"], kernel="precomputed").fit(columns[:60], labels[:60])
    assert (chosen.predictions == machine.predict(columns)).all()
    assert (chosen.predictions[test] == labels[test]).mean() > 0.7
    assert chosen.spectrum == spectrum_of(columns[:60])


def test_alpha_is_chosen_by_validation() -> None:
    distances, _, report, _ = problem()
    noise = np.abs(np.random.default_rng(1).normal(size=(90, 1)) - np.random.default_rng(1).normal(size=(1, 90)))
    kernels = gromov_kernels({0.0: (noise + noise.T) / 2, 1.0: distances}, report.train_nodes, gammas=(0.5, 2.0))
    assert choose_svm(kernels, report).settings["alpha"] == 1.0


@pytest.mark.parametrize("correction", ["clip", "flip", "shift"])
def test_indefinite_kernels_can_be_corrected_without_the_test_rows(correction: str) -> None:
    distances, labels, report, test = problem()
    indefinite = distances**3  # e^{-|x|^3} is no kernel
    kernels = list(gromov_kernels({1.0: indefinite}, report.train_nodes, gammas=(1.0,)))
    assert spectrum_of(kernels[0][1][:60]).negative_mass > 0.01
    before = choose_svm(kernels, report, correction=correction, penalties=(1.0,))
    assert (before.predictions[test] == labels[test]).mean() > 0.6
    kernels[0][1][test[0]] = 0.0
    after = choose_svm(kernels, report, correction=correction, penalties=(1.0,))
    others = np.arange(90) != test[0]
    assert (before.predictions[others] == after.predictions[others]).all()


def test_unusable_problems_are_refused() -> None:
    distances, labels, report, _ = problem()
    with pytest.raises(UserError, match="gamma"):
        choose_svm([], report)
    single = reveal_labels(np.zeros(90, dtype=np.int64), np.arange(60), np.arange(60, 78), classes=2, dataset="toy")
    with pytest.raises(UserError, match="classes"):
        choose_svm(gromov_kernels({1.0: distances}, single.train_nodes), single)
    blind = reveal_labels(labels, np.arange(60), np.arange(0), classes=2, dataset="toy")
    with pytest.raises(UserError, match="validation"):
        choose_svm(gromov_kernels({1.0: distances}, blind.train_nodes), blind)
