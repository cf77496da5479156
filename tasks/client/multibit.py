"""The multi-bit mechanism on feature vectors (Sajadmanesh and Gatica-Perez, CCS 2021; Solitude, eq. 7-8).

Law. A user draws m of the d dimensions uniformly without replacement and sends one sign for each. With
t = (x - x_min)/(x_max - x_min) and the share s = eps/m, the sign is +1 with probability

    1/(e^s + 1) + t (e^s - 1)/(e^s + 1),

else -1. Dimensions that were not drawn send nothing. m = max(1, min(d, floor(eps/2.18))), LPGNN's optimum.

Proof sketch. Whatever x is, a sign has a probability in [1/(e^s+1), e^s/(e^s+1)], so two inputs give it with
probabilities whose ratio is at most e^s. The choice of dimensions does not depend on x, and m signs compose to
m s = eps: a report is eps-LDP for the whole vector, for any two vectors within the *declared* bounds. Bounds
read from the private values would be a function of all users' data and void the proof.

Exactness. A sign is a 64-bit uniform integer compared with a threshold that is kept in [K, 2^64 - K], K the rational
1/(e^s+1) rounded up: the realised budget never exceeds eps. Between the ends the threshold follows t to 2^-52: that
shifts a sign's mean, not the bound. The dimensions are exactly uniform: integers by rejection.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.biased_coin import rare_side, uniform_words
from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.feature import FeatureReport
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, fresh_report_key, local_privacy_line, uncharged

OPTIMAL_SHARE = Decimal("2.18")
_LARGEST_BELOW_2_64 = float(np.nextafter(2.0**64, 0.0))


def sampled_dimensions(epsilon: str, dimensions: int) -> int:
    """m = max(1, min(d, floor(eps/2.18))); d at ``"inf"``."""
    if epsilon == INFINITE:
        return dimensions
    return max(1, min(dimensions, int(Decimal(epsilon) // OPTIMAL_SHARE)))


def encode_features(
    features: csr_array,
    bounds: tuple[float, float],
    epsilon: str,
    rng: np.random.Generator,
    simulated: bool,
    *,
    dataset: str,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> FeatureReport:
    """One noisy report of every feature vector, or the exact values at ``"inf"``.

    Args:
        features: (N, d), entries that are not stored are zeros.
        bounds: declared (x_min, x_max), never read from the data.
        epsilon: budget of a user's whole vector.
        rng: source of the noise; the report is a function of it and of the arguments.
        simulated: whether ``rng`` was made from a known seed, for the ledger.
        dataset: name for the ledger.
        notes: the data set's remarks for the ledger.
        charge: called with the ledger's line before anything is drawn.

    Raises:
        UserError: for a bad budget, empty features, values that are not finite or outside the declared bounds.
    """
    epsilon = canonical_epsilon(epsilon, name="eps_x")
    exact = _checked(features, bounds, dataset)
    nodes, dimensions = exact.shape
    sampled = sampled_dimensions(epsilon, dimensions)
    line = charge(_ledger_line(epsilon, rng, simulated, dataset, notes))
    if epsilon == INFINITE:
        dims, signs = np.empty((nodes, 0), dtype=np.int32), np.empty((nodes, 0), dtype=np.int8)
    else:
        dims = drawn_dimensions(nodes, dimensions, sampled, rng)
        signs = drawn_signs(_values_at(exact, dims), bounds, rare_side(epsilon, 64, sampled), rng)
    return FeatureReport(
        nodes=nodes,
        dimensions=dimensions,
        sampled=sampled,
        epsilon=epsilon,
        bounds=(float(bounds[0]), float(bounds[1])),
        dims=dims,
        signs=signs,
        ledger=line,
        exact=exact if epsilon == INFINITE else None,
    )


def _checked(features: csr_array, bounds: tuple[float, float], dataset: str) -> csr_array:
    """The features as float64 in sorted rows. Messages name the declared bounds, never a value of a user."""
    low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise UserError(f"{dataset}: declared feature bounds [{low:g}, {high:g}] must be finite and in order")
    if min(features.shape) < 1:
        raise UserError(f"{dataset}: there are no features to report; use a method that needs none")
    exact = csr_array(features, dtype=np.float64, copy=True)
    exact.sum_duplicates()
    if not np.isfinite(exact.data).all():
        raise UserError(f"{dataset}: a feature is NaN or infinite; clean the data before it is reported")
    hidden_zero = exact.nnz < exact.shape[0] * exact.shape[1]
    inside = ((exact.data >= low) & (exact.data <= high)).all() and (low <= 0 <= high or not hidden_zero)
    if not inside:
        raise UserError(
            f"{dataset}: a feature lies outside the declared bounds [{low:g}, {high:g}]; declare bounds that hold for "
            "every possible user, or clip: bounds are never read from the data, that would break the guarantee"
        )
    return exact


def drawn_dimensions(nodes: int, dimensions: int, sampled: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """int32 (N, m): m of d dimensions a row, uniformly without replacement, sorted (Floyd's algorithm)."""
    if sampled == dimensions:
        return np.tile(np.arange(dimensions, dtype=np.int32), (nodes, 1))
    lasts = np.arange(dimensions - sampled, dimensions, dtype=np.int64)
    # numpy draws bounded integers by rejection: exactly uniform.
    dims = rng.integers(0, lasts, size=(nodes, sampled), endpoint=True).astype(np.int32)
    _resolve_collisions(dims, dimensions)
    dims.sort(axis=1)
    return dims


@njit(cache=True)
def _resolve_collisions(dims, dimensions):  # type: ignore[no-untyped-def]
    """Floyd's rule, in place: draw k of a row, uniform on [0, d-m+k], becomes d-m+k when it was drawn before."""
    nodes, sampled = dims.shape
    drawn_by = np.full(dimensions, -1, dtype=np.int64)
    for row in range(nodes):
        for k in range(sampled):
            if drawn_by[dims[row, k]] == row:
                dims[row, k] = dimensions - sampled + k
            drawn_by[dims[row, k]] = row


def _values_at(exact: csr_array, dims: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64 (N, m): the entries at (row, dims[row, k])."""
    nodes, dimensions = exact.shape
    rows = np.arange(nodes, dtype=np.int64)
    wanted = (rows[:, None] * dimensions + dims).ravel()
    if not exact.nnz:
        return np.zeros(dims.shape)
    stored = np.repeat(rows, np.diff(exact.indptr)) * dimensions + exact.indices
    index = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return np.where(stored[index] == wanted, exact.data[index], 0.0).reshape(dims.shape)


def drawn_signs(
    values: NDArray[np.float64], bounds: tuple[float, float], rare: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """int8, +1 with probability (rare + t (2^64 - 2 rare)) / 2^64."""
    low, high = bounds
    position = (values / 2 - low / 2) / (high / 2 - low / 2)  # halves: the range of two floats may overflow
    span = 2**64 - 2 * rare
    # The float product may round up to 2^64, which no uint64 holds.
    along = np.clip(position * span, 0.0, _LARGEST_BELOW_2_64).astype(np.uint64)
    threshold = np.uint64(rare) + np.minimum(along, np.uint64(span))
    threshold[position >= 1] = np.uint64(2**64 - rare)
    return np.where(uniform_words(rng, values.shape) < threshold, np.int8(1), np.int8(-1))


def _ledger_line(
    epsilon: str, rng: np.random.Generator, simulated: bool, dataset: str, notes: tuple[str, ...]
) -> LedgerLine:
    return local_privacy_line(
        mechanism="multi-bit",
        dataset=dataset,
        deployment_key="features",
        report_key=fresh_report_key(rng, "multi-bit", dataset, epsilon),
        epsilon=epsilon,
        unit="feature vector",
        claim=f"{epsilon}-LDP for a user's whole feature vector within the declared bounds",
        not_protected="the declared bounds, the number of dimensions, and which user reports",
        simulated=simulated,
        spends={"features": epsilon},
        notes=notes,
    )
