import functools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.curator.hyper_parameters import HyperParameters, ValidationScore, grid
from tasks.errors import UserError

# Few distinct values, so that ties are common.
SCORES = st.lists(
    st.builds(ValidationScore, st.sampled_from([0.0, 0.5, 0.75]), st.sampled_from([0.1, 0.7, math.inf])), min_size=1
)


@given(scores=SCORES)
def test_the_chosen_one_has_the_best_accuracy_then_the_lowest_loss_then_comes_first(scores):
    chosen = functools.reduce(lambda best_model, score: score if score.beats(best_model) else best_model, scores)
    top = max(score.accuracy for score in scores)
    lowest = min(score.loss for score in scores if score.accuracy == top)
    assert chosen is next(score for score in scores if (score.accuracy, score.loss) == (top, lowest))


def test_anything_beats_nothing():
    assert ValidationScore(0.0, math.inf).beats(None)


def test_grid_is_the_full_product_in_order():
    points = grid([0.1, 0.01], [0.0, 0.5], [0.001])
    assert [(p.learning_rate, p.dropout) for p in points] == [(0.1, 0.0), (0.1, 0.5), (0.01, 0.0), (0.01, 0.5)]
    assert {p.weight_decay for p in points} == {0.001}


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ((0.0, 0.5, 0.1), "learning_rate"),
        ((math.nan, 0.5, 0.1), "learning_rate"),
        ((0.1, 1.0, 0.1), "dropout"),
        ((0.1, -0.1, 0.1), "dropout"),
        ((0.1, 0.5, -1.0), "weight_decay"),
        ((0.1, 0.5, math.inf), "weight_decay"),
    ],
)
def test_a_value_out_of_range_is_named(point, name):
    with pytest.raises(UserError, match=name):
        HyperParameters(*point)
