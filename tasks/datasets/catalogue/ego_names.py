"""The data sets of ego graphs are named after the graph that they are cut from."""

from __future__ import annotations

import re


def ego_name(whole: str, hops: int) -> str:
    """The data set of the ego graphs of one graph."""
    return f"{whole}-{hops}-hop"


def whole_of(name: str) -> str:
    """The graph whose ego graphs bear this name; another name stays as it is."""
    return re.sub(r"-\d+-hop$", "", name)
