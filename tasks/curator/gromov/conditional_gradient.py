"""Conditional gradient for one pair of graphs, from one start (Vayer et al., ICML 2019, algorithm 1).

Minimises, over couplings T of the two weightings,

    F(T) = (1 - alpha) <M, T> + alpha (E1 + E2 - 2 <C1 T C2, T>),    E = sum of C_ik^2 p_i p_k,

which is the fused Gromov-Wasserstein objective for the square loss (Peyre, Cuturi & Solomon, ICML 2016, proposition 1),
and the plain one when there is no M. The dense T is never formed: G = C1 T C2 and <G, T> are all that a step needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tasks.curator.gromov.spanning_tree import NODE, northwest_tree
from tasks.curator.gromov.transport_simplex import improve_basis
from tasks.curator.gromov.vertices import CELL, inner, read_vertex, sandwich, subtract

MAX_ITERATIONS = 10_000
PRICING_TOLERANCE = 1e-12  # of a bound on the gains
TOLERANCE = 1e-9  # POT's default, both for the absolute and for the relative change of the objective


class Side(NamedTuple):
    """One graph: distances between its merged nodes, and what follows from them."""

    distances: np.ndarray  # (k, k) float64
    eccentricity: np.ndarray  # (k,) mean distance to the whole graph
    order: np.ndarray  # (k,) uint32, by eccentricity
    multiplicity: np.ndarray  # (k,) int64, original nodes in each merged node
    nodes: int  # original nodes
    energy: float  # mean squared distance
    reach: float  # the largest root mean square of a row of distances


class Workspace(NamedTuple):
    """Arrays that the starts of one pair share."""

    tree: np.ndarray  # (n + m + 1,) of NODE
    potential: np.ndarray  # (n + m,)
    vertex: np.ndarray  # (n + m,) of CELL
    earlier: np.ndarray  # (n + m,) of CELL
    change: np.ndarray  # (2 n + 2 m,) of CELL
    at_plan: np.ndarray  # (n, m), C1 T C2
    at_vertex: np.ndarray  # (n, m), C1 V C2
    update: np.ndarray  # (n, m)
    slot: np.ndarray  # (n + m,), for the sparse product
    factors: np.ndarray  # flat, the same
    gain: np.ndarray  # (n, m), or (0, 0) when the gain is C1 T C2 itself


@njit(nogil=True)
def empty_workspace(n: int, m: int, fused: bool) -> Workspace:
    """Workspace for a pair with n and m merged nodes."""
    total = n + m
    return Workspace(
        np.empty(total + 1, NODE),
        np.empty(total),
        np.empty(total, CELL),
        np.empty(total, CELL),
        np.empty(2 * total, CELL),
        np.empty((n, m)),
        np.empty((n, m)),
        np.empty((n, m)),
        np.empty(total, np.int64),
        np.empty(min(n, m) * total),
        np.empty((n, m)) if fused else np.empty((0, 0)),
    )


@njit(nogil=True)
def best_step(curvature: float, slope: float) -> float:
    """Minimiser of ``curvature s^2 + slope s`` over [0, 1]."""
    if curvature > 0:
        return min(1.0, max(0.0, -slope / (2 * curvature)))
    return 1.0 if curvature + slope < 0 else 0.0


@njit(nogil=True)
def greatest_common_divisor(a: int, b: int) -> int:
    """Euclid's algorithm."""
    while b:
        a, b = b, a % b
    return a


@njit(nogil=True)
def masses(first: Side, second: Side, last: int) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Integer supplies and demands with the perturbation of ``spanning_tree``; its shift; the worth of one mass."""
    n = len(first.order)
    divisor = greatest_common_divisor(first.nodes, second.nodes)
    shift = 1
    while (1 << shift) <= 2 * n:
        shift += 1
    supply = ((first.multiplicity * (second.nodes // divisor)) << shift) + 1
    demand = (second.multiplicity * (first.nodes // divisor)) << shift
    demand[last] += n
    return supply, demand, shift, divisor / (first.nodes * second.nodes)


@njit(nogil=True)
def mix_plan(plan: np.ndarray, vertex: np.ndarray, count: int, unit: float, step: float) -> None:
    """``plan = (1 - step) plan + step V``."""
    plan *= 1.0 - step
    for k in range(count):
        plan[vertex[k].row, vertex[k].column] += step * vertex[k].mass * unit


@njit(nogil=True)
def minimise(
    first: Side,
    second: Side,
    cost: np.ndarray,
    alpha: float,
    order1: np.ndarray,
    order2: np.ndarray,
    from_product: bool,
    workspace: Workspace,
    plan: np.ndarray,
) -> tuple[float, int]:
    """Value reached from the product coupling, or from the vertex that the two orders define.

    ``cost`` is M, or (0, 0)-shaped for the plain objective; ``plan`` receives T unless its shape is (0, 0). The second
    graph must not have fewer merged nodes than the first. Returns the value and the number of iterations.
    """
    n = len(first.order)
    m = len(second.order)
    fused = cost.size > 0
    tree, vertex, earlier, change = workspace.tree, workspace.vertex, workspace.earlier, workspace.change
    at_plan, at_vertex, update = workspace.at_plan, workspace.at_vertex, workspace.update
    supply, demand, shift, unit = masses(first, second, order2[m - 1])
    root = northwest_tree(tree, order1, order2, supply, demand)
    count = 0
    if from_product:
        at_vertex[:] = 0.0
        weight = 1.0 / (first.nodes * second.nodes)
        energy = 0.0
        feature_cost = 0.0
        for i in range(n):
            for j in range(m):
                mass = first.multiplicity[i] * second.multiplicity[j] * weight
                at_plan[i, j] = first.eccentricity[i] * second.eccentricity[j]
                energy += mass * at_plan[i, j]
                if fused:
                    feature_cost += mass * cost[i, j]
                if plan.size:
                    plan[i, j] = mass
    else:
        count = read_vertex(tree, root, n, m, shift, vertex)
        sandwich(first.distances, second.distances, vertex, count, unit, workspace.slot, workspace.factors, at_vertex)
        energy = inner(at_vertex, vertex, count, unit)
        feature_cost = inner(cost, vertex, count, unit) if fused else 0.0
        if plan.size:
            plan[:] = 0.0
            mix_plan(plan, vertex, count, unit, 1.0)
    is_vertex = not from_product  # whether T is the latest vertex, so that at_plan is at_vertex
    value = (1 - alpha) * feature_cost + alpha * (first.energy + second.energy - 2 * energy)
    # Cauchy-Schwarz bounds the entries of C1 T C2 by the product of the reaches
    scale = first.reach * second.reach
    if fused:
        scale = 4 * alpha * scale + (1 - alpha) * cost.max()
    iterations = 0
    while iterations < MAX_ITERATIONS:
        gradient = at_vertex if is_vertex else at_plan
        if iterations > 0 or fused or not from_product:
            gain = gradient
            if fused:
                gain = workspace.gain
                for i in range(n):
                    for j in range(m):
                        gain[i, j] = 4 * alpha * gradient[i, j] - (1 - alpha) * cost[i, j]
            pivots = improve_basis(tree, workspace.potential, root, gain, PRICING_TOLERANCE * scale)
            if pivots == 0 and is_vertex:
                break
        iterations += 1
        earlier, vertex = vertex, earlier
        earlier_count = count
        count = read_vertex(tree, root, n, m, shift, vertex)
        changed = subtract(vertex, count, earlier, earlier_count, update, change)
        if changed == 0 and is_vertex:
            break
        across = inner(gradient, vertex, count, unit)
        sandwich(first.distances, second.distances, change, changed, unit, workspace.slot, workspace.factors, update)
        for i in range(n):
            for j in range(m):
                at_vertex[i, j] += update[i, j]
        vertex_energy = inner(at_vertex, vertex, count, unit)
        vertex_cost = inner(cost, vertex, count, unit) if fused else 0.0
        curvature = -2 * alpha * (vertex_energy - 2 * across + energy)
        slope = (1 - alpha) * (vertex_cost - feature_cost) - 4 * alpha * (across - energy)
        step = best_step(curvature, slope)
        decrease = -(curvature * step + slope) * step
        value -= decrease
        feature_cost += step * (vertex_cost - feature_cost)
        if plan.size:
            mix_plan(plan, vertex, count, unit, step)
        if step == 1.0:
            is_vertex = True
            energy = vertex_energy
        else:
            for i in range(n):
                for j in range(m):
                    start = at_vertex[i, j] - update[i, j] if is_vertex else at_plan[i, j]
                    at_plan[i, j] = start + step * (at_vertex[i, j] - start)
            is_vertex = False
            energy = (1 - step) ** 2 * energy + 2 * step * (1 - step) * across + step**2 * vertex_energy
        if abs(decrease) < TOLERANCE or abs(decrease) < TOLERANCE * abs(value):
            break
    return value, iterations
