"""Both sources of noise under the same tests of the law; the cipher also under its published test vector."""

from __future__ import annotations

import ast
import inspect
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from randomgen import ChaCha
from scipy.sparse import csr_array
from scipy.stats import binomtest, chisquare, dlaplace, geom

from tasks.client.biased_coin import rare_side, uniform_words
from tasks.client.fedwalk.discrete_laplace import with_discrete_laplace
from tasks.client.multibit import drawn_dimensions, drawn_signs
from tasks.client.noise_source import noise_generator
from tasks.client.randomized_response import flip_probability, randomise_neighbour_lists
from tasks.seeds import generator
from tasks.steps.report_point import drawn

STEPS = Path(__file__).resolve().parents[3] / "tasks" / "steps"
SIGNIFICANT = 1e-5


@pytest.fixture(params=["seed", "cipher"])
def source(request: pytest.FixtureRequest) -> np.random.Generator:
    """The seeded source, and the unseeded one under a fixed key so that the test always draws the same."""
    return generator(11) if request.param == "seed" else np.random.Generator(ChaCha(key=2**255 - 19, rounds=20))


def test_the_words_are_the_ciphers_key_stream() -> None:
    """RFC 8439, appendix A.1, test vector 1: key, nonce and counter zero."""
    words = uniform_words(np.random.Generator(ChaCha(key=0, counter=0, rounds=20)), 8)
    published = (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )
    assert words.astype("<u8").tobytes().hex() == published


def test_without_a_seed_the_key_is_fresh_full_sized_and_from_the_operating_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def randbits(bits: int) -> int:
        asked.append(bits)
        return 1 << 255

    states = [noise_generator(None).bit_generator.state["state"] for _ in range(2)]
    assert states[0]["rounds"] == 20
    assert not np.array_equal(states[0]["keysetup"], states[1]["keysetup"])
    monkeypatch.setattr("secrets.randbits", randbits)
    noise_generator(None)
    assert asked == [256]


def test_a_seed_gives_the_bytes_that_it_always_gave() -> None:
    assert noise_generator(5).bytes(64) == generator(5).bytes(64) == np.random.default_rng(5).bytes(64)


def test_every_step_draws_its_noise_from_here() -> None:
    """``generator(None)`` is no cipher: the seed of a client's report goes through ``noise_generator`` alone."""
    users = 0
    for path in STEPS.rglob("*.py"):
        for step in ast.parse(path.read_text()).body:
            if not isinstance(step, ast.FunctionDef) or "client_report" not in map(_called, step.decorator_list):
                continue
            calls = [node for node in ast.walk(step) if isinstance(node, ast.Call)]
            assert not [call for call in calls if _called(call) == "generator" and "draft" in ast.dump(call)], path
            users += "drawn" in map(_called, calls)
    assert users >= 8
    assert "noise_generator(draft.seed)" in inspect.getsource(drawn)


def _called(node: ast.expr) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def test_flips_are_independent_coins(source: np.random.Generator) -> None:
    nodes = 400
    report = randomise_neighbour_lists(
        csr_array((nodes, nodes), dtype=np.int8), "2", "directed", source, 100, False, dataset="x"
    )
    p = flip_probability("2")
    assert binomtest(len(report.indices), nodes * nodes, p).pvalue > SIGNIFICANT
    places = np.repeat(np.arange(nodes), np.diff(report.indptr)) * nodes + report.indices
    gaps = np.diff(places)
    reach = 30
    observed = [*(np.sum(gaps == gap) for gap in range(1, reach)), np.sum(gaps >= reach)]
    law = [*geom.pmf(range(1, reach), p), geom.sf(reach - 1, p)]
    assert chisquare(observed, np.array(law) * len(gaps)).pvalue > SIGNIFICANT


def test_signs_and_dimensions_follow_the_law(source: np.random.Generator) -> None:
    users = 30_000
    dims = drawn_dimensions(users, 5, 2, source)
    seen = [(dims == np.array(pair)).all(axis=1).sum() for pair in combinations(range(5), 2)]
    assert chisquare(seen).pvalue > SIGNIFICANT
    rare = rare_side("1", 64)
    for position in (0.0, 0.3, 1.0):
        signs = drawn_signs(np.full(users, position), (0.0, 1.0), rare, source)
        p = (rare + position * (2**64 - 2 * rare)) / 2**64
        assert binomtest(int((signs == 1).sum()), users, p).pvalue > SIGNIFICANT


def test_integer_noise_follows_the_law(source: np.random.Generator) -> None:
    count, reach = 60_000, 8
    noise = with_discrete_laplace(np.zeros(count, dtype=np.int64), "0.7", sensitivity=1, rng=source)
    law = dlaplace(0.7)
    inside = np.arange(-reach, reach + 1)
    observed = [*(np.sum(noise == z) for z in inside), np.sum(abs(noise) > reach)]
    expected = np.array([*law.pmf(inside), 2 * law.sf(reach)]) * count
    assert chisquare(observed, expected).pvalue > SIGNIFICANT
