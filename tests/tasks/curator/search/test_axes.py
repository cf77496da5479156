from __future__ import annotations

import pytest

from tasks.curator.search.axes import AXES, Axes, axes_named
from tasks.errors import UserError


def test_the_papers_grid_has_the_papers_size():
    paper = axes_named("paper")
    assert len(paper.configurations(l_x=True, l_y=True, joint=True)) == 16_384
    assert len(paper.configurations(l_x=True, l_y=True, joint=False)) == 1_024
    plain = paper.configurations(l_x=False, l_y=False, joint=False)
    assert len(plain) == 64
    assert all((point.l_x, point.l_y, point.lambda1, point.lambda2) == (0, 0, 0.0, 0.0) for point in plain)


@pytest.mark.parametrize("name", AXES)
def test_points_differ_and_what_a_method_lacks_is_absent(name):
    points = axes_named(name).configurations(l_x=True, l_y=False, joint=False)
    assert len(set(points)) == len(points)
    assert {point.l_x for point in points} == set(AXES[name].l_x)
    assert {point.l_y for point in points} == {0}


def test_the_wider_grid_drops_and_leaves_weights_alone():
    wide = axes_named("lpgnn")
    assert {0.25, 0.5, 0.75} <= set(wide.dropout) and 0.0 in wide.weight_decay and 16 in wide.l_x


def test_mistakes_are_named():
    with pytest.raises(UserError, match="'huge'"):
        axes_named("huge")
    with pytest.raises(UserError, match="dropout"):
        Axes((0.1,), (), (0.1,))
    with pytest.raises(UserError, match="l_x"):
        Axes((0.1,), (0.1,), (0.1,), l_x=(2, 2))
